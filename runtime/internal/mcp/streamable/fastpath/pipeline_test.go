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

// A memory listener has connections in memory: the server reads each write of the client at once, if its buffer has room.
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

// memoryServers are servers in a synctest bubble.
type memoryServers struct {
	fast, standard *memory
	server         *fastpath.Server
	netHTTP        *atomic.Int64
	session        string
}

// newMemoryServers serves a Handler until the test ends.
func newMemoryServers(t *testing.T) *memoryServers {
	h := streamtest.NewFront(t, streamtest.Library(), mcp.Config{}, streamable.Config{MaxRequestBytes: 60_000, AllowedHosts: []string{"localhost"}})
	router := &countingRouter{Handler: h}
	server, err := fastpath.NewServer(router, fastpath.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := &memoryServers{fast: newMemory(), standard: newMemory(), server: server, netHTTP: &router.netHTTP, session: openDirectly(h)}
	standard := standardServer(h)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(p.fast); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	serving.Go(func() { _ = standard.Serve(p.standard) })
	t.Cleanup(func() {
		if err := errors.Join(server.Shutdown(context.Background()), standard.Close()); err != nil {
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

// exchange sends pieces on one connection, each when the server waits for more, and gives all that the server sends.
func (p *memoryServers) exchange(to *memory, pieces []string) string {
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
	return normalize(string(answers))
}

var variable = regexp.MustCompile(`(?m)^Date: .*\r\n|^Mcp-Session-Id: .*\r\n`)

// normalize sorts the headers of each response, and removes values that differ each time.
func normalize(answers string) string {
	answers = errorID.ReplaceAllString(variable.ReplaceAllString(answers, ""), "")
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

// compare checks that the Server answers pieces as net/http answers the same bytes at once.
func (p *memoryServers) compare(t *testing.T, pieces []string) (answers string) {
	t.Helper()
	for i := range pieces {
		pieces[i] = strings.ReplaceAll(pieces[i], sessionMark, p.session)
	}
	want := p.exchange(p.standard, []string{strings.Join(pieces, "")})
	got := p.exchange(p.fast, pieces)
	if got != want {
		t.Errorf("%.4000q\n%s", pieces, difference(got, want))
	}
	return got
}

// mixed is a stream of requests of all kinds, and how many of them there are. The last closes the connection.
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

// Plain requests are answered without net/http, whatever was sent on the connection before.
func TestOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newMemoryServers(t)
		var pieces []string
		unusual := []string{
			modernRead("test://text", "Origin", "http://localhost"), raw("GET / HTTP/1.1", "", "Content-Length", ""),
			raw("GET /mcp HTTP/1.1", "body of a GET"), raw(postLine, strings.Repeat("x", 50_000), "Host", "evil.example"),
			modern("ping", "", streamtest.Body("1", "ping", "")), inSession(`{"jsonrpc":"2.0","id":3,"method":"ping"}`),
			modernRead("test://text", "X-Long", strings.Repeat("x", 6_000)) + "",
			inSession(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`),
		}
		for _, g := range unusual {
			pieces = append(pieces, modernRead("test://text"), g, sessionRead("7", "test://text"), modernRead("test://nope"))
		}
		p.compare(t, pieces)
		if got, want := p.netHTTP.Load(), int64(len(unusual)-1); got != want {
			t.Errorf("net/http had to answer %d, want %d", got, want)
		}
	})
}

// A stream may be split anywhere: in two at each byte, into single bytes, and at random.
func TestSplitAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it compares hundreds of streams")
	}
	synctest.Test(t, func(t *testing.T) {
		p := newMemoryServers(t)
		try := func(stream string, requests int) func(pieces []string) {
			want := p.exchange(p.standard, []string{stream})
			if got := strings.Count(want, "HTTP/1.1") + strings.Count(want, "\nContent-Type: "); got < requests {
				t.Fatalf("got %d answers, want %d: %s", got, requests, want)
			}
			return func(pieces []string) {
				if got := p.exchange(p.fast, pieces); got != want {
					t.Fatalf("%.4000q\n%s", pieces, difference(got, want))
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

// pieces splits a stream at random.
func pieces(r *rand.Rand, stream string) []string {
	var list []string
	for stream != "" {
		n := min(1+r.IntN(1<<r.IntN(14)), len(stream))
		list, stream = append(list, stream[:n]), stream[n:]
	}
	return list
}

// Requests of all kinds in random order and random pieces are answered alike.
func TestPipelines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newMemoryServers(t)
		probes := corpus()
		r := rand.New(rand.NewPCG(1, 2))
		streams := 300
		if testing.Short() {
			streams = 30
		}
		for range streams {
			var stream strings.Builder
			for range 1 + r.IntN(8) {
				if r.IntN(2) == 0 {
					stream.WriteString(modernRead("test://text"))
				} else if probe := probes[r.IntN(len(probes))]; !probe.needsOwnSession() {
					stream.WriteString(probe.request)
				}
			}
			if p.compare(t, pieces(r, stream.String())); t.Failed() {
				return
			}
		}
	})
}

// needsOwnSession reports whether a probe is answered with a stream, or ends its session.
func (p probe) needsOwnSession() bool {
	return p.head || strings.Contains(p.request, spareMark)
}

// Streams of requests with random changes are answered alike.
func TestMangledStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("it compares thousands of streams")
	}
	synctest.Test(t, func(t *testing.T) {
		p := newMemoryServers(t)
		probes := corpus()
		r := rand.New(rand.NewPCG(3, 4))
		for range 2000 {
			var stream []byte
			for range 1 + r.IntN(4) {
				request := modernRead("test://text")
				if probe := probes[r.IntN(len(probes))]; r.IntN(2) == 0 && !probe.needsOwnSession() && len(probe.request) < 2000 {
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

// mangle makes up to three random changes to a request.
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

// FuzzStream sends any bytes, in any pieces.
func FuzzStream(f *testing.F) {
	for i, p := range corpus() {
		if testing.Short() && i%10 != 0 {
			continue
		}
		if !p.needsOwnSession() && len(p.request) < 1000 {
			f.Add([]byte(p.request+modernRead("test://text")), uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		synctest.Test(t, func(t *testing.T) {
			newMemoryServers(t).compare(t, pieces(rand.New(rand.NewPCG(seed, 0)), string(stream)))
		})
	})
}

// difference shows where two texts begin to differ.
func difference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	near := func(s string) string { return s[max(0, i-200):min(len(s), i+300)] }
	return fmt.Sprintf("from byte %d on\ngot  …%s\nwant …%s", i, near(got), near(want))
}

// Some old clients send line ends after bodies.
func TestLineEndsBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newMemoryServers(t)
		plain, unusual := modernRead("test://text"), modernRead("test://text", "Origin", "http://localhost")
		for _, ends := range []string{"\r\n", "\n", "\r", "\r\n\r\n", "\n\n\n\n", "\r\n\r\n\r\n"} {
			for _, stream := range []string{plain + ends + plain + plain, plain + ends + unusual + ends + plain, unusual + ends + plain, plain + ends} {
				p.compare(t, []string{stream})
				p.compare(t, strings.Split(stream, ""))
			}
		}
	})
}
