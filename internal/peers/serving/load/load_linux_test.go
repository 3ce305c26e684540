package load_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

var id = regexp.MustCompile(`"id":([0-9]+)`)

// answer is what both servers of these tests say to a message; empty for nothing.
func answer(message string) string {
	found := id.FindStringSubmatch(message)
	switch {
	case found == nil:
		return ""
	case strings.Contains(message, `"initialize"`):
		return `{"jsonrpc":"2.0","id":1,"result":{}}`
	}
	return `{"jsonrpc":"2.0","id":` + found[1] + `,"result":` + fmt.Sprint(strings.Contains(message, `"uri":"x:y"`)) + `}`
}

func serve(t *testing.T, wrap func(w http.ResponseWriter, answer string)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a := answer(string(body))
		switch {
		case strings.Contains(string(body), `"initialize"`):
			w.Header().Set("Mcp-Session-Id", "s1")
		case r.Header.Get("Mcp-Session-Id") != "s1" && r.Header.Get("Mcp-Protocol-Version") == "2025-11-25":
			w.WriteHeader(http.StatusNotFound)
		case r.Header.Get("Mcp-Protocol-Version") == "2026-07-28" &&
			(r.Header.Get("Mcp-Name") != "x:y" || !strings.Contains(string(body), `"_meta":{`)):
			w.WriteHeader(http.StatusBadRequest)
		case a == "":
			w.WriteHeader(http.StatusAccepted)
			return
		default:
			wrap(w, a)
			return
		}
		fmt.Fprint(w, a)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func plain(w http.ResponseWriter, answer string) { fmt.Fprint(w, answer) }

func event(w http.ResponseWriter, answer string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: message\nid: 7\ndata: %s\n\n", answer)
}

func TestHTTP(t *testing.T) {
	for name, wrap := range map[string]func(http.ResponseWriter, string){"plain": plain, "event": event} {
		addr := serve(t, wrap)
		for _, r := range []load.Revision{load.Sessions, load.Modern} {
			x, err := load.OpenExchange(addr, r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := x.Call(load.Read("x:y"), nil)
			x.Close()
			if want := `{"jsonrpc":"2.0","id":1000000000,"result":true}`; string(got) != want || err != nil {
				t.Errorf("%s: got %s, %v, want %s", name, got, err, want)
			}
			measured := 0
			h := load.HTTP{Addr: addr, Revision: r, Call: load.Read("x:y"), Connections: 3}
			res, err := h.Run(load.Load{
				Warmup: time.Millisecond, Duration: time.Minute, Requests: 50, Measuring: func() { measured++ },
			})
			if err != nil || res.Requests != 50 || measured != 1 || res.Quantile(1) <= 0 || res.Rate() <= 0 {
				t.Errorf("%s: got %+v, %v, told %d times", name, res, err, measured)
			}
			if got := res.Streams > 0; got != (name == "event") {
				t.Errorf("%s: got %d streams", name, res.Streams)
			}
		}
	}
}

func TestHTTPAtARate(t *testing.T) {
	addr := serve(t, plain)
	h := load.HTTP{Addr: addr, Call: load.Read("x:y"), Connections: 2}
	res, err := h.Run(load.Load{Duration: time.Minute, Requests: 20, Rate: 1000})
	if err != nil || res.Elapsed < 18*time.Millisecond {
		t.Errorf("20 requests at a rate of 1000 took %v, %v", res.Elapsed, err)
	}
}

func TestHTTPRefused(t *testing.T) {
	var n atomic.Int64
	for name, wrap := range map[string]func(http.ResponseWriter, string){
		"status": func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusTeapot) },
		"length": func(w http.ResponseWriter, a string) { fmt.Fprint(w, a, strings.Repeat(" ", int(n.Add(1)/10))) },
		"closed": func(http.ResponseWriter, string) { panic(http.ErrAbortHandler) },
	} {
		h := load.HTTP{Addr: serve(t, wrap), Call: load.Read("x:y"), Connections: 1}
		res, err := h.Run(load.Load{Duration: time.Minute, Requests: 50})
		if err == nil {
			t.Errorf("%s: got %+v without an error", name, res)
		}
	}
}

// pipe gives a way to a server that answers lines in turn, as mangle says.
func pipe(t *testing.T, mangle func(string) string) *load.Pipe {
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		defer out.Close()
		for lines := bufio.NewScanner(in); lines.Scan(); {
			if a := answer(lines.Text()); a != "" {
				fmt.Fprintln(out, mangle(a))
			}
		}
	})
	t.Cleanup(func() { w.Close(); serving.Wait(); in.Close(); r.Close() })
	p, err := load.OpenPipe(int(w.Fd()), int(r.Fd()), load.Sessions)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStdio(t *testing.T) {
	p := pipe(t, func(a string) string { return `{"jsonrpc":"2.0","method":"notifications/message"}` + "\n" + a })
	for range 2 {
		got, err := p.Call(load.Read("x:y"), nil)
		if want := `{"jsonrpc":"2.0","id":1000000000,"result":true}`; string(got) != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		res, err := load.Stdio{Pipe: p, Call: load.Read("x:y"), Depth: 16}.Run(load.Load{Duration: time.Minute, Requests: 100})
		if err != nil || res.Requests != 100 || res.Length != int64(len(got)) {
			t.Errorf("got %+v, %v", res, err)
		}
	}
}

func TestStdioRefused(t *testing.T) {
	var n atomic.Int64
	for name, mangle := range map[string]func(string) string{
		"length": func(a string) string {
			return a[:len(a)-1] + strings.Repeat(" ", int(n.Add(1)/10)) + "}"
		},
		"twice":    func(a string) string { return a + "\n" + a },
		"other id": func(a string) string { return strings.Replace(a, `"id":10000`, `"id":10001`, 1) },
	} {
		s := load.Stdio{Pipe: pipe(t, mangle), Call: load.Read("x:y"), Depth: 4}
		res, err := s.Run(load.Load{Duration: time.Minute, Requests: 50})
		if err == nil {
			t.Errorf("%s: got %+v without an error", name, res)
		}
	}
}
