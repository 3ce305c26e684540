package fastpath_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/fastpath"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// memory is a listener whose connections are made in memory: each write of the client's is one read of the server's, if
// there is room for it.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory { return &memory{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *memory) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *memory) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (p *memory) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// A pair is a twin in a bubble of time.
type pair struct {
	hot, plain *memory
	server     *fastpath.Server
	general    *atomic.Int64
	session    string
}

// newPair serves a Handler until the bubble ends.
func newPair(t *testing.T) *pair {
	h := streamtest.NewFront(t, streamtest.Library(), mcp.Config{}, streamable.Config{MaxRequestBytes: 60_000, AllowedHosts: []string{"localhost"}})
	router := &countingRouter{Handler: h}
	server, err := fastpath.NewServer(router, fastpath.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{hot: newMemory(), plain: newMemory(), server: server, general: &router.general, session: openDirectly(h)}
	plain := plainServer(h)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(p.hot); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	serving.Go(func() { _ = plain.Serve(p.plain) })
	t.Cleanup(func() {
		if err := errors.Join(server.Shutdown(context.Background()), plain.Close()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		serving.Wait()
		time.Sleep(time.Second) // net/http keeps what it refused open for half of that
	})
	return p
}

// openDirectly opens a session of an older revision and waits until it is initialized.
func openDirectly(h http.Handler) string {
	id := streamtest.OpenSession(h)
	synctest.Wait()
	return id
}

// converse sends pieces one after the other, each when all is done that can be done with those before, and gives all
// that is answered until the server has no more to say.
func (p *pair) converse(to *memory, pieces []string) string {
	client := to.dial()
	var answers []byte
	var reading sync.WaitGroup
	reading.Go(func() { answers, _ = io.ReadAll(client) })
	for _, piece := range pieces {
		if _, err := io.WriteString(client, piece); err != nil {
			break // the server has closed it
		}
		synctest.Wait()
	}
	synctest.Wait()
	client.Close()
	reading.Wait()
	return settled(string(answers))
}

var variable = regexp.MustCompile(`(?m)^Date: .*\r\n|^Mcp-Session-Id: .*\r\n`)

// settled puts the headers of each response in order, and takes out what differs from time to time.
func settled(answers string) string {
	answers = unlike.ReplaceAllString(variable.ReplaceAllString(answers, ""), "")
	var b strings.Builder
	for i, part := range strings.SplitAfter(answers, "HTTP/1.1 ") {
		if i == 0 {
			b.WriteString(part)
			continue
		}
		head, body, _ := strings.Cut(part, "\r\n\r\n")
		lines := strings.Split(head, "\r\n")
		slices.Sort(lines[1:])
		b.WriteString(strings.Join(lines, "\n") + "\n\n" + body)
	}
	return b.String()
}

// compare holds the Server to what net/http answers to the same bytes.
func (p *pair) compare(t *testing.T, pieces []string) (answers string) {
	t.Helper()
	for i := range pieces {
		pieces[i] = strings.ReplaceAll(pieces[i], sessionMark, p.session)
	}
	want := p.converse(p.plain, []string{strings.Join(pieces, "")})
	got := p.converse(p.hot, pieces)
	if got != want {
		t.Errorf("%.4000q\n%s", pieces, apart(got, want))
	}
	return got
}

// mixed is a stream of requests of all kinds, and how many of them are of the hot shape. The last closes the connection.
func mixed() (stream string, requests int) {
	list := []string{
		modernRead("test://text"),
		sessionRead("7", "test://text"),
		modernRead("test://text", "Origin", "http://localhost"),
		modernRead("test://nope"),
		raw("GET / HTTP/1.1", "", "Content-Length", ""),
		raw("GET /mcp HTTP/1.1", "body of a GET"),
		sessionRead(`"x"`, "test://nope"),
		modern("resources/list", "", streamtest.Body("1", "resources/list", "")),
		raw(postLine, modernRead("test://text"), "Host", "evil.example"), // a body that looks like a request
		inSession(`{"jsonrpc":"2.0","id":3,"method":"ping"}`),
		modern("resources/list", "", "", "Content-Length", ""),
		raw(postLine, "", "Content-Length", "", "Transfer-Encoding", "chunked") + "3\r\n{}\n\r\n0\r\n\r\n",
		modernRead("test://text", "Connection", "close"),
	}
	return strings.Join(list, ""), len(list)
}

// TestOneByOne sends requests of all kinds on one connection, each when the one before has been answered: those of the
// hot shape are answered without net/http, whatever came before.
func TestOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		var pieces []string
		general := []string{
			modernRead("test://text", "Origin", "http://localhost"), raw("GET / HTTP/1.1", "", "Content-Length", ""),
			raw("GET /mcp HTTP/1.1", "body of a GET"), raw(postLine, strings.Repeat("x", 50_000), "Host", "evil.example"),
			modern("ping", "", streamtest.Body("1", "ping", "")), inSession(`{"jsonrpc":"2.0","id":3,"method":"ping"}`),
			modernRead("test://text", "X-Long", strings.Repeat("x", 6_000)) + "",
			inSession(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`),
		}
		for _, g := range general {
			pieces = append(pieces, modernRead("test://text"), g, sessionRead("7", "test://text"), modernRead("test://nope"))
		}
		p.compare(t, pieces)
		if got, want := p.general.Load(), int64(len(general)-1); got != want {
			t.Errorf("net/http had to answer %d, want %d", got, want)
		}
	})
}

// TestSplitAnywhere sends a stream in two pieces, divided at each place there is, and byte by byte, and one of requests of
// all kinds in many ways.
func TestSplitAnywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		try := func(stream string, requests int) func(pieces []string) {
			want := p.converse(p.plain, []string{stream})
			if got := strings.Count(want, "HTTP/1.1") + strings.Count(want, "\nContent-Type: "); got < requests {
				t.Fatalf("got %d answers, want %d: %s", got, requests, want)
			}
			return func(pieces []string) {
				if got := p.converse(p.hot, pieces); got != want {
					t.Fatalf("%.4000q\n%s", pieces, apart(got, want))
				}
			}
		}
		short := strings.ReplaceAll(sessionRead("7", "test://text")+raw("GET / HTTP/1.1", "", "Content-Length", "", "Accept", "", "Content-Type", "")+
			sessionRead("8", "test://text", "Connection", "close"), sessionMark, p.session)
		split := try(short, 3)
		for i := range short {
			split([]string{short[:i], short[i:]})
		}
		split(strings.Split(short, ""))
		long, requests := mixed()
		long = strings.ReplaceAll(long, sessionMark, p.session)
		r := rand.New(rand.NewPCG(5, 6))
		split = try(long, requests)
		for range 200 {
			split(pieces(r, long))
		}
	})
}

// pieces cuts a stream at random.
func pieces(r *rand.Rand, stream string) []string {
	var list []string
	for stream != "" {
		n := min(1+r.IntN(1<<r.IntN(14)), len(stream))
		list, stream = append(list, stream[:n]), stream[n:]
	}
	return list
}

// TestPipelines sends requests of all kinds in any order, in any pieces.
func TestPipelines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		probes := corpus()
		r := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			var stream strings.Builder
			for range 1 + r.IntN(8) {
				if r.IntN(2) == 0 {
					stream.WriteString(modernRead("test://text"))
				} else if probe := probes[r.IntN(len(probes))]; !probe.unsuited() {
					stream.WriteString(probe.request)
				}
			}
			if p.compare(t, pieces(r, stream.String())); t.Failed() {
				return
			}
		}
	})
}

// unsuited reports whether a probe answers for ever or for everybody.
func (p probe) unsuited() bool {
	return p.head || strings.Contains(p.request, spareMark)
}

// TestMangledStreams sends streams of requests with some bytes changed.
func TestMangledStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		probes := corpus()
		r := rand.New(rand.NewPCG(3, 4))
		for range 2000 {
			var stream []byte
			for range 1 + r.IntN(4) {
				request := modernRead("test://text")
				if probe := probes[r.IntN(len(probes))]; r.IntN(2) == 0 && !probe.unsuited() && len(probe.request) < 2000 {
					request = probe.request
				}
				stream = append(stream, mangle(r, request)...)
			}
			if p.compare(t, pieces(r, string(stream))); t.Failed() {
				return
			}
		}
	})
}

// mangle changes a request, or leaves it.
func mangle(r *rand.Rand, request string) string {
	b := []byte(request)
	for range r.IntN(4) {
		if len(b) == 0 {
			return ""
		}
		i := r.IntN(len(b))
		j := min(i+r.IntN(40), len(b))
		switch r.IntN(7) {
		case 0:
			b[i] = byte(r.Uint32())
		case 1:
			b[i] = "\r\n \t:,/0\x00\xff"[r.IntN(10)]
		case 2:
			b = slices.Delete(b, i, min(i+1, len(b)))
		case 3:
			b = slices.Delete(b, i, j)
		case 4:
			b = slices.Insert(b, i, slices.Clone(b[i:j])...)
		case 5:
			lines := strings.SplitAfter(string(b), "\r\n")
			line := lines[r.IntN(len(lines))]
			b = []byte(strings.Replace(string(b), line, line+lines[r.IntN(len(lines))], 1))
		case 6:
			b = slices.Insert(b, i, []byte("\r\n")...)
		}
	}
	return string(b)
}

// FuzzStream holds the Server to net/http with any bytes, in any pieces.
func FuzzStream(f *testing.F) {
	for i, p := range corpus() {
		if !p.unsuited() && len(p.request) < 1000 {
			f.Add([]byte(p.request+modernRead("test://text")), uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		synctest.Test(t, func(t *testing.T) {
			newPair(t).compare(t, pieces(rand.New(rand.NewPCG(seed, 0)), string(stream)))
		})
	})
}

// apart shows where two texts begin to differ.
func apart(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	near := func(s string) string { return s[max(0, i-200):min(len(s), i+300)] }
	return fmt.Sprintf("from byte %d on\ngot  …%s\nwant …%s", i, near(got), near(want))
}

// TestLineEndsBetween sends line ends after bodies, as some old clients do.
func TestLineEndsBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		plain, general := modernRead("test://text"), modernRead("test://text", "Origin", "http://localhost")
		for _, ends := range []string{"\r\n", "\n", "\r", "\r\n\r\n", "\n\n\n\n", "\r\n\r\n\r\n"} {
			for _, stream := range []string{plain + ends + plain + plain, plain + ends + general + ends + plain, general + ends + plain, plain + ends} {
				p.compare(t, []string{stream})
				p.compare(t, strings.Split(stream, ""))
			}
		}
	})
}
