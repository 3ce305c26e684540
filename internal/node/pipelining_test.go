package node_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Clients send requests to several tenants on one connection without waiting for answers, while one tenant's file changes, goes and
// comes back: each request is answered, in its order, by its own tenant or by a refusal that says nothing of any other.
func TestPipeliningOverReloads(t *testing.T) {
	if testing.Short() {
		t.Skip("it reloads under load")
	}
	h := host(t, "a", "b")
	own := filepath.Join(h.Settings().Data, "tenants", "a.yaml")
	plain, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	write(t, own, string(plain)+"plan: unbounded\n")
	h.reread()
	read := func(id, key string) request {
		return request{tenant: id, key: key, method: "resources/read", uri: noteURI}
	}
	awaitNote := func(id string) { // a busy machine may take long to compile the provider
		t.Helper()
		for ; ; time.Sleep(10 * time.Millisecond) {
			switch got := h.do(read(id, h.keys[id])); {
			case strings.Contains(got.body, secretOf(id)):
				return
			case !isLater(got.body):
				t.Fatalf("%s: %d %s", id, got.status, got.body)
			}
		}
	}
	awaitNote("a")
	awaitNote("b")
	asked := []struct {
		request
		tenant string // whose note the answer has; empty for a refusal
	}{
		{read("a", h.keys["a"]), "a"}, {read("b", h.keys["b"]), "b"}, {read("a", h.keys["b"]), ""}, {read("a", h.keys["a"]), "a"},
		{read("b", h.keys["a"]), ""}, {request{tenant: "a", key: h.keys["a"], uri: noteURI}, "a"}, {read("b", h.keys["b"]), "b"},
		{request{tenant: "b", key: h.keys["b"], uri: noteURI}, "b"}, {read("a", ""), ""}, {read("a", h.keys["a"]), "a"},
	}
	var burst bytes.Buffer
	for _, r := range asked {
		if err := h.build(r.request).Write(&burst); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				conn, err := net.Dial("tcp", h.address)
				if err != nil {
					t.Error(err)
					return
				}
				_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
				const bursts = 5
				go func() {
					for range bursts {
						_, _ = conn.Write(burst.Bytes())
					}
				}()
				in := bufio.NewReader(conn)
				for i := range bursts * len(asked) {
					is := asked[i%len(asked)]
					answer, err := http.ReadResponse(in, nil)
					if err != nil {
						t.Errorf("request %d is not answered: %v", i, err)
						break
					}
					body, err := io.ReadAll(answer.Body)
					if err != nil {
						t.Errorf("the answer to request %d is cut: %v", i, err)
						break
					}
					text := string(body)
					switch {
					case strings.Contains(text, "secret-of-") && (is.tenant == "" || !strings.Contains(text, secretOf(is.tenant))):
						t.Errorf("%+v got the data of another tenant: %s", is, text)
					case is.tenant == "" && answer.StatusCode != http.StatusUnauthorized && !(is.request.tenant == "b" && answer.StatusCode == http.StatusGone):
						t.Errorf("%+v is not refused: %d %s", is, answer.StatusCode, text)
					case is.tenant == "a" && !isLater(text) && (answer.StatusCode != http.StatusOK || !strings.Contains(text, secretOf("a"))):
						t.Errorf("a tenant that does not change: %d %s", answer.StatusCode, text)
					case answer.Close:
						t.Errorf("the connection ends after request %d: %d %s", i, answer.StatusCode, text)
					}
				}
				_ = conn.Close()
			}
		})
	}
	file := filepath.Join(h.Settings().Data, "tenants", "b.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		switch n % 4 {
		case 0:
			write(t, file, strings.Replace(string(text), `count_lookups: "true"`, fmt.Sprintf("count_lookups: \"true\", n: %q", fmt.Sprint(n)), 1))
		case 1:
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		case 2:
			write(t, file, string(text)+"hosts: [b.example]\n")
		case 3:
			write(t, file, string(text)+"plan: unbounded\n")
		}
		h.reread()
		if n%4 == 3 {
			awaitNote("b")
		}
	}
	close(stop)
	clients.Wait()
}

// isLater reports whether an answer says that the client is to try again, as on a busy machine.
func isLater(body string) bool { return strings.Contains(body, `"retryAfterMs"`) }

// reread reads the files again, all of which are right.
func (h *hosted) reread() {
	h.tb.Helper()
	if report, err := h.Reread(h.tb.Context()); err != nil || len(report.Problems) > 0 {
		h.tb.Fatal(err, report)
	}
}
