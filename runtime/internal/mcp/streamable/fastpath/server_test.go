package fastpath_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	sessions "github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/fastpath"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A gate is a source with a resource whose reads wait.
type gate struct {
	*mcptest.Source
	begun   chan struct{} // gets a token for each read
	release chan struct{} // lets one read go for each token
	ended   chan error    // gets the cause when a read's context ends before
	reads   atomic.Int64
}

func newGate() *gate {
	g := &gate{Source: streamtest.Library(), begun: make(chan struct{}, 100), release: make(chan struct{}, 100), ended: make(chan error, 100)}
	g.Handle(abi.Resource{URI: "test://gate", Name: "gate"}, func(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		g.reads.Add(1)
		g.begun <- struct{}{}
		select {
		case <-g.release:
			return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, []byte("at last"))
		case <-ctx.Done():
			g.ended <- context.Cause(ctx)
			return nil, context.Cause(ctx)
		}
	})
	return g
}

// receive receives from c, within a minute.
func receive[T any](t *testing.T, what string, c <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s: nothing received", what)
	}
	return got
}

func TestClientThatGoesStopsItsRead(t *testing.T) {
	g := newGate()
	sv := newServers(t, streamtest.NewFront(t, g, mcp.Config{}, streamable.Config{}), nil)
	session := open(t, sv.standard)
	for _, request := range []string{modernRead("test://gate"), strings.ReplaceAll(sessionRead("1", "test://gate"), sessionMark, session)} {
		c := dial(t, sv.fast)
		io.WriteString(c.conn, request)
		receive(t, "the read", g.begun)
		c.conn.Close()
		receive(t, "the end of the read", g.ended)
	}
	if n := sv.netHTTP.Load(); n != 0 {
		t.Errorf("net/http had to answer %d", n)
	}
}

// A cancellation, and the end of a session, end a read of the session.
func TestSessionStopsItsReads(t *testing.T) {
	g := newGate()
	sv := newServers(t, streamtest.NewFront(t, g, mcp.Config{}, streamable.Config{}), nil)
	const noAnswer = "200 map[Cache-Control:[no-store] Content-Length:[0] Content-Type:[text/event-stream] X-Accel-Buffering:[no] " +
		"X-Content-Type-Options:[nosniff]] [] 0 close=false "
	cancel := inSession(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)
	end := raw("DELETE /mcp HTTP/1.1", "", "Mcp-Session-Id", sessionMark, "MCP-Protocol-Version", streamtest.OldRevision)
	tests := []struct{ name, addr, request, want string }{
		{"cancelled", sv.fast, cancel, noAnswer},
		{"cancelled, net/http", sv.standard, cancel, noAnswer},
		{"session ended", sv.fast, end, `"id":"x","error":{`},
		{"session ended, net/http", sv.standard, end, `"id":"x","error":{`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			session := open(t, sv.standard)
			before := sv.netHTTP.Load()
			reader, other := dial(t, tt.addr), dial(t, tt.addr)
			io.WriteString(reader.conn, strings.ReplaceAll(sessionRead(`"x"`, "test://gate"), sessionMark, session))
			receive(t, "the read", g.begun)
			if sv.netHTTP.Load() != before {
				t.Error("net/http had to answer it")
			}
			io.WriteString(other.conn, strings.ReplaceAll(tt.request, sessionMark, session))
			receive(t, "the end of the read", g.ended)
			if answer, _ := reader.answer("POST"); !strings.Contains(answer, tt.want) {
				t.Errorf("got %s, want %s", answer, tt.want)
			}
			io.WriteString(reader.conn, modernRead("test://text"))
			if answer, _ := reader.answer("POST"); !strings.Contains(answer, "hello") {
				t.Errorf("the next request on the connection: got %s", answer)
			}
		})
	}
}

// A cancelled request that has reported progress gets no answer.
func TestCancelledRequestThatHasBegunIsNotAnswered(t *testing.T) {
	s, begun := streamtest.Library(), make(chan struct{}, 1)
	s.Handle(abi.Resource{URI: "test://begun", Name: "begun"}, func(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		sink.Progress(abi.Progress{Done: 1, Total: 2})
		begun <- struct{}{}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	sv := newServers(t, streamtest.NewFront(t, s, mcp.Config{}, streamable.Config{}), nil)
	session := open(t, sv.standard)
	reader, other := dial(t, sv.fast), dial(t, sv.fast)
	read := `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"test://begun","_meta":{"progressToken":1}}}`
	io.WriteString(reader.conn, strings.ReplaceAll(inSession(read), sessionMark, session))
	receive(t, "the read", begun)
	cancel := inSession(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	io.WriteString(other.conn, strings.ReplaceAll(cancel, sessionMark, session))
	answer, closed := reader.answer("POST")
	if !strings.Contains(answer, "notifications/progress") || strings.Contains(answer, `"id"`) || closed {
		t.Errorf("got %s, closed %v, want a stream of progress alone", answer, closed)
	}
}

// serveInMemory serves a Handler until the test ends.
func serveInMemory(t *testing.T, h *streamable.Handler) (*fastpath.Server, *memory, *atomic.Int64) {
	router, l := &countingRouter{Handler: h}, newMemory()
	server, err := fastpath.NewServer(router, fastpath.Config{})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Shutdown(context.Background()), <-served); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return server, l, &router.netHTTP
}

// answers returns all that the server sends, when it closes the connection.
func answers(c net.Conn) <-chan string {
	all := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(c)
		all <- string(b)
	}()
	return all
}

func TestSessionThatReadsIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		core, err := mcp.New(mcp.Config{Source: g, Name: "test", Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		front, err := sessions.New(sessions.Config{Core: core, Source: g, Name: "test", Version: "1", Idle: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		h, err := streamable.New(streamable.Config{Core: core, Legacy: front, AllowedHosts: streamtest.Hosts()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { front.Close() })
		_, l, netHTTP := serveInMemory(t, h)
		request := strings.ReplaceAll(sessionRead("1", "test://gate"), sessionMark, openDirectly(h))
		ask := func(release bool) string {
			c := l.dial()
			all := answers(c)
			io.WriteString(c, request)
			if release {
				<-g.begun
				time.Sleep(10 * time.Minute)
				g.release <- struct{}{}
			}
			synctest.Wait()
			c.Close()
			return <-all
		}
		if got := ask(true); !strings.Contains(got, "at last") || netHTTP.Load() != 0 {
			t.Fatalf("got %s, %d by net/http", got, netHTTP.Load())
		}
		time.Sleep(59 * time.Second)
		if got := ask(true); !strings.Contains(got, "at last") {
			t.Fatalf("got %s", got)
		}
		time.Sleep(61 * time.Second)
		if got := ask(false); !strings.HasPrefix(got, "HTTP/1.1 404 ") {
			t.Errorf("after an idle minute: got %s, want 404", got)
		}
	})
}

// Connections that send a head too slowly, or nothing, are closed in time.
func TestTimeouts(t *testing.T) {
	tests := []struct {
		name          string
		before, drops string // sent at once, and a byte each second for ever
		least, most   time.Duration
	}{
		{"slow head", "", strings.Repeat("x", 1000), headerTimeout, headerTimeout + 2*time.Second},
		{"slow head of many lines", "", postLine + "\r\nA: b\r\n" + strings.Repeat("x", 1000), headerTimeout, headerTimeout + 2*time.Second},
		{"slow head of a later request", modernRead("test://text"), strings.Repeat("x", 1000), headerTimeout, headerTimeout + 2*time.Second},
		{"slow head after a request to net/http", modernRead("test://text", "Origin", "http://localhost"), strings.Repeat("x", 1000), headerTimeout, headerTimeout + 2*time.Second},
		{"nothing", "", "", headerTimeout, idle},
		{"nothing more", modernRead("test://text"), "", idle * 7 / 8, idle},
		{"nothing more after a request to net/http", modernRead("test://text", "Origin", "http://localhost"), "", idle * 7 / 8, idle},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, l, _ := serveInMemory(t, streamtest.NewFront(t, streamtest.Library(), mcp.Config{}, streamable.Config{}))
				c := l.dial()
				all := answers(c)
				io.WriteString(c, tt.before)
				synctest.Wait()
				begun := time.Now()
				for i := range tt.drops {
					if _, err := io.WriteString(c, tt.drops[i:i+1]); err != nil {
						break
					}
					time.Sleep(time.Second)
				}
				<-all
				if took := time.Since(begun); took < tt.least || took > tt.most {
					t.Errorf("closed after %v, want %v to %v", took, tt.least, tt.most)
				}
			})
		})
	}
}

// net/http gets a request whose body comes late.
func TestLateBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, l, netHTTP := serveInMemory(t, streamtest.NewFront(t, streamtest.Library(), mcp.Config{}, streamable.Config{}))
		c := l.dial()
		all := answers(c)
		request := modernRead("test://text")
		io.WriteString(c, request[:len(request)-10])
		time.Sleep(headerTimeout + 5*time.Second) // net/http has the request by now
		io.WriteString(c, request[len(request)-10:])
		synctest.Wait()
		c.Close()
		if got := <-all; !strings.Contains(got, `"text":"hello"`) || netHTTP.Load() != 1 {
			t.Errorf("got %s", got)
		}
	})
}

func TestShutdownWaitsForReads(t *testing.T) {
	g := newGate()
	sv := newServers(t, streamtest.NewFront(t, g, mcp.Config{}, streamable.Config{}), nil)
	c := dial(t, sv.fast)
	io.WriteString(c.conn, modernRead("test://gate")+modernRead("test://gate")) // the second comes too late
	receive(t, "the read", g.begun)
	ended := make(chan error, 1)
	go func() { ended <- sv.server.Shutdown(context.Background()) }()
	for conn, err := net.Dial("tcp", sv.fast); err == nil; conn, err = net.Dial("tcp", sv.fast) {
		conn.Close()
	}
	select {
	case err := <-ended:
		t.Errorf("shutdown has not waited: %v", err)
	default:
	}
	g.release <- struct{}{}
	g.release <- struct{}{}
	if answer, _ := c.answer("POST"); !strings.Contains(answer, "at last") {
		t.Errorf("got %s", answer)
	}
	if answer, closed := c.answer("POST"); !closed {
		t.Errorf("got %s after the end", answer)
	}
	if err := receive(t, "the end", ended); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if n := g.reads.Load(); n != 1 || sv.netHTTP.Load() != 0 {
		t.Errorf("got %d reads, %d by net/http, want 1, 0", n, sv.netHTTP.Load())
	}
}

// Shutdown does not wait for a client without a request under way.
func TestShutdownDoesNotWaitForSilentClients(t *testing.T) {
	request := modernRead("test://text")
	for name, tt := range map[string]struct {
		sends string
		most  time.Duration
	}{
		"plain":                           {request, time.Second},
		"net/http":                        {modernRead("test://text", "Origin", "http://localhost"), time.Second},
		"nothing":                         {"", 2 * time.Millisecond}, // net/http looks again after 1 ms, and 10 % at most
		"half of a head":                  {request[:50], 2 * time.Second},
		"half of a body":                  {request[:len(request)-10], 2 * time.Second},
		"half of a head, after a request": {request + request[:50], 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, l, _ := serveInMemory(t, streamtest.NewFront(t, streamtest.Library(), mcp.Config{}, streamable.Config{}))
				c := l.dial()
				all := answers(c)
				io.WriteString(c, tt.sends)
				synctest.Wait()
				begun := time.Now()
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
				defer cancel()
				if err := server.Shutdown(ctx); err != nil || time.Since(begun) > tt.most {
					t.Errorf("got %v after %v, want %v at most", err, time.Since(begun), tt.most)
				}
				c.Close()
				<-all
			})
		})
	}
}

func TestShutdownCutsWhatIsLate(t *testing.T) {
	g := newGate()
	sv := newServers(t, streamtest.NewFront(t, g, mcp.Config{}, streamable.Config{}), nil)
	c := dial(t, sv.fast)
	io.WriteString(c.conn, modernRead("test://gate"))
	receive(t, "the read", g.begun)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := sv.server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline that has passed", err)
	}
	receive(t, "the end of the read", g.ended)
	if answer, closed := c.answer("POST"); !closed {
		t.Errorf("got %s", answer)
	}
}

// breakingSource has, beside those of the Library, a resource whose reads fail after many bytes.
func breakingSource() *mcptest.Source {
	s := streamtest.Library()
	s.Handle(abi.Resource{URI: "test://broken", Name: "broken"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		if err := mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, bytes.Repeat([]byte("text\n"), 200_000)); err != nil {
			return nil, err
		}
		return nil, abi.Errorf(abi.CodeTrap, "The provider crashed")
	})
	return s
}

// Answers in parts and whole ones, to local and to remote clients, are those of net/http.
func TestLongAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("it compares hundreds of long answers")
	}
	wraps := map[string]func(net.Conn) net.Conn{"local": nil, "remote": asRemote}
	for _, budget := range []int{0, 10_000} {
		for where, wrap := range wraps {
			sv := newServers(t, streamtest.NewFront(t, breakingSource(), mcp.Config{Budget: budget}, streamable.Config{}), wrap)
			session := open(t, sv.standard)
			for _, coding := range []string{"", "gzip", "zstd", "gzip;q=0"} {
				for _, uri := range []string{"test://1m", "test://blob", "test://text", "test://broken"} {
					for name, request := range map[string]string{
						"modern": modernRead(uri, "Accept-Encoding", coding), "session": sessionRead("1", uri, "Accept-Encoding", coding),
					} {
						t.Run(fmt.Sprint(where, budget, coding, uri, name), func(t *testing.T) {
							sv.compareLong(t, strings.ReplaceAll(request, sessionMark, session))
						})
					}
				}
			}
		}
	}
}

func (sv *servers) compareLong(t *testing.T, request string) {
	before := sv.netHTTP.Load()
	got, gotErr := long(t, sv.fast, request)
	if sv.netHTTP.Load() != before {
		t.Error("net/http had to answer it")
	}
	want, wantErr := long(t, sv.standard, request)
	if (gotErr == nil) != (wantErr == nil) {
		t.Fatalf("got %v, want %v", gotErr, wantErr)
	}
	if wantErr != nil { // how much came before differs
		got, _, _ = strings.Cut(got, "\n")
		want, _, _ = strings.Cut(want, "\n")
	}
	if got != want {
		t.Error(difference(got, want))
	}
}

// long returns an answer without its coding, and an error if the connection was closed before its end.
func long(t *testing.T, addr, request string) (string, error) {
	c := dial(t, addr)
	defer c.conn.Close()
	io.WriteString(c.conn, request)
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	coding := r.Header.Get("Content-Encoding")
	r.Header.Del("Date")
	if coding != "" {
		r.Header.Del("Content-Length") // encoders need not agree
	}
	var body io.Reader = r.Body
	switch coding {
	case "gzip":
		if body, err = gzip.NewReader(r.Body); err != nil {
			t.Fatal(err)
		}
	case "zstd":
		d, err := zstd.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		body = d
	}
	all, err := io.ReadAll(body)
	text := errorID.ReplaceAllString(fmt.Sprint(r.StatusCode, r.Header, r.TransferEncoding, "\n", string(all)), "")
	if err == nil {
		io.WriteString(c.conn, modernRead("test://text"))
		after, _ := c.answer("POST")
		text += after
	}
	return text, err
}

// Many clients send requests of all kinds at once, and close connections at any time.
func TestManyClients(t *testing.T) {
	g := newGate()
	sv := newServers(t, streamtest.NewFront(t, g, mcp.Config{}, streamable.Config{}), nil)
	session := open(t, sv.standard)
	requests := []string{
		modernRead("test://text"), sessionRead("<id>", "test://text"), modernRead("test://nope"), modern("resources/list", "", streamtest.Body("1", "resources/list", "")),
		modernRead("test://text", "Origin", "http://localhost"), raw("GET / HTTP/1.1", "", "Content-Length", ""), sessionRead("<id>", "test://blob"),
		inSession(`{"jsonrpc":"2.0","id":<id>,"method":"ping"}`), modernRead("test://1m"),
	}
	for i := range requests {
		requests[i] = strings.ReplaceAll(requests[i], sessionMark, session)
	}
	var clients sync.WaitGroup
	for i := range 16 {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 0))
			for round := range 5 {
				manyRequests(t, sv, r, requests, 1000+i*500+round*20)
			}
		})
	}
	clients.Wait()
	deadline := time.Now().Add(15 * time.Second)
	for sv.server.Open() > 0 && time.Now().Before(deadline) {
		pause()
	}
	if n := sv.server.Open(); n > 0 {
		t.Errorf("%d connections are still open", n)
	}
	for range len(g.begun) {
		<-g.ended
	}
}

// pause lets other goroutines run.
func pause() { <-time.After(time.Millisecond) }

// manyRequests sends requests one after the other and at once, and closes the connection while one is answered.
func manyRequests(t *testing.T, sv *servers, r *rand.Rand, requests []string, id int) {
	conn, err := net.Dial("tcp", sv.fast)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(60 * time.Second))
	for range 3 {
		var bulk strings.Builder
		n := 1 + r.IntN(4)
		for i := range n {
			id++
			bulk.WriteString(strings.ReplaceAll(requests[(r.IntN(len(requests))+i)%len(requests)], "<id>", fmt.Sprint(id)))
		}
		go io.WriteString(conn, bulk.String())
		in := newClient(conn)
		for range n {
			answer, closed := in.answer("POST")
			if closed || !strings.HasPrefix(answer, "200 ") && !strings.Contains(answer, "not_found") {
				t.Errorf("%.3000q: got %.300s", bulk.String(), answer)
				return
			}
		}
	}
	io.WriteString(conn, modernRead("test://gate"))
}

// Deadlines of plain requests do not apply to a later request that net/http reads.
func TestAnswersOfNetHTTPMayTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		_, l, netHTTP := serveInMemory(t, streamtest.NewFront(t, g, mcp.Config{}, streamable.Config{}))
		c := l.dial()
		all := answers(c)
		io.WriteString(c, modernRead("test://text"))
		synctest.Wait()
		io.WriteString(c, modernRead("test://gate", "Origin", "http://localhost"))
		<-g.begun
		time.Sleep(time.Hour)
		g.release <- struct{}{}
		synctest.Wait()
		io.WriteString(c, modernRead("test://text"))
		synctest.Wait()
		c.Close()
		if got := <-all; strings.Count(got, "hello") != 2 || !strings.Contains(got, "at last") || netHTTP.Load() != 1 {
			t.Errorf("got %s, %d by net/http", got, netHTTP.Load())
		}
	})
}

// A halfClosed connection gives the end of the stream after some bytes, but stays open for writing.
type halfClosed struct {
	net.Conn
	left *int
}

func (h halfClosed) Read(p []byte) (int, error) {
	if *h.left == 0 {
		return 0, io.EOF
	}
	n, err := h.Conn.Read(p[:min(len(p), *h.left)])
	*h.left -= n
	return n, err
}

// A client may send several requests and close its direction: that ends none of those but the last.
func TestClientThatClosesItsDirection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		_, l, _ := serveInMemory(t, streamtest.NewFront(t, g, mcp.Config{}, streamable.Config{}))
		slow := modernRead("test://gate", "Origin", "http://localhost")
		all := slow + slow + modernRead("test://text")
		client, server := net.Pipe()
		left := len(all)
		l.conns <- halfClosed{server, &left}
		got := answers(client)
		io.WriteString(client, all)
		for range 2 {
			<-g.begun
			synctest.Wait()
			if len(g.ended) > 0 {
				t.Fatalf("the read was ended: %v", <-g.ended)
			}
			g.release <- struct{}{}
		}
		if text := <-got; strings.Count(text, "at last") != 2 || !strings.Contains(text, "hello") {
			t.Errorf("got %s", text)
		}
	})
}

// The beginning of a request may come during a long answer, and its rest after that.
func TestNextRequestBeginsDuringAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		_, l, _ := serveInMemory(t, streamtest.NewFront(t, g, mcp.Config{}, streamable.Config{}))
		c := l.dial()
		all := answers(c)
		next := modernRead("test://text")
		io.WriteString(c, modernRead("test://gate", "Origin", "http://localhost"))
		<-g.begun
		io.WriteString(c, next[:50])
		time.Sleep(time.Hour)
		g.release <- struct{}{}
		time.Sleep(headerTimeout / 2)
		io.WriteString(c, next[50:])
		synctest.Wait()
		c.Close()
		if got := <-all; !strings.Contains(got, "at last") || !strings.Contains(got, "hello") {
			t.Errorf("got %s", got)
		}
	})
}

// A rebound connection arrived on an address that is not a loopback address.
type rebound struct{ net.Conn }

func (rebound) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8080} }

// A name that an attacker's DNS server points to this machine is refused by the Server and by net/http alike.
func TestReboundNamesAreRefused(t *testing.T) {
	sv := newServers(t, streamtest.NewFront(t, streamtest.Library(), mcp.Config{}, streamable.Config{AllowedHosts: []string{}}), func(c net.Conn) net.Conn { return rebound{c} })
	for host, want := range map[string]string{
		"192.0.2.7:8080": "HTTP/1.1 200 ", "evil.test:8080": "HTTP/1.1 403 ", "localhost": "HTTP/1.1 403 ", "127.0.0.1": "HTTP/1.1 403 ",
	} {
		for _, addr := range []string{sv.fast, sv.standard} {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			request := strings.Replace(modernRead("test://text"), "Host: localhost", "Connection: close\r\nHost: "+host, 1)
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(c)
			if c.Close(); !strings.HasPrefix(string(answer), want) {
				t.Errorf("host %s: got %.100q, want %s", host, answer, want)
			}
		}
	}
}
