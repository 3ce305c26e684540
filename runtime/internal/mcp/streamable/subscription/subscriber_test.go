package subscription_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/fastpath"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// pipes is a network without buffers: each write waits for a read.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// overPipes runs a test with both kinds of server on pipes, in a synctest bubble. A goroutine that is left fails the test.
func overPipes(t *testing.T, src func() resource.Source, test func(t *testing.T, h *streamable.Handler, dial func() net.Conn)) {
	serveStandard := func(h *streamable.Handler, l net.Listener) (end func() error) {
		server := &http.Server{Handler: h}
		go server.Serve(l)
		return server.Close
	}
	serveOurs := func(h *streamable.Handler, l net.Listener) (end func() error) {
		server, err := fastpath.NewServer(h, fastpath.Config{})
		if err != nil {
			t.Fatal(err)
		}
		go server.Serve(l)
		return func() error { return server.Shutdown(context.Background()) }
	}
	for name, serve := range map[string]func(*streamable.Handler, net.Listener) func() error{"net/http": serveStandard, "ours": serveOurs} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, err := mcp.New(mcp.Config{Source: src(), Name: "test", Version: "1", MaxSubscriptions: 4})
				if err != nil {
					t.Fatal(err)
				}
				h, err := streamable.New(streamable.Config{Core: core, AllowedHosts: streamtest.Hosts()})
				if err != nil {
					t.Fatal(err)
				}
				p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
				end := serve(h, p)
				test(t, h, func() net.Conn {
					here, there := net.Pipe()
					p.conns <- there
					return here
				})
				if err := errors.Join(h.Close(), end()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func subscribe(t *testing.T, conn net.Conn, proto, notifications string) {
	t.Helper()
	text := streamtest.Body("7", mcp.ListenMethod, `"notifications":`+notifications)
	_, err := fmt.Fprintf(conn, "POST /mcp %s\r\nHost: mcp.test\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: %s\r\nMcp-Method: %s\r\nContent-Length: %d\r\n\r\n%s", proto, streamtest.Revision, mcp.ListenMethod, len(text), text)
	if err != nil {
		t.Fatal(err)
	}
}

const watchText = `{"resourcesListChanged":true,"resourceSubscriptions":["test://text"]}`

// A listener is a client that reads everything at once.
type listener struct {
	conn net.Conn
	mu   sync.Mutex
	text strings.Builder
	done chan struct{} // closed when there is no more
}

func listen(t *testing.T, conn net.Conn, proto, notifications string) *listener {
	t.Helper()
	subscribe(t, conn, proto, notifications)
	c := &listener{conn: conn, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		for p := make([]byte, 4<<10); ; {
			n, err := conn.Read(p)
			c.mu.Lock()
			c.text.Write(p[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	synctest.Wait()
	return c
}

// received returns what came since the last call.
func (c *listener) received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.text.Reset()
	return c.text.String()
}

// event encodes an event.
func event(message string) string { return "event: message\ndata: " + message + "\n\n" }

// chunk encodes a chunk.
func chunk(part string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(part), part) }

const (
	subscriptionID = `"_meta":{"io.modelcontextprotocol/subscriptionId":7}`
	acknowledged   = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + subscriptionID +
		`,"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["test://text"]}}}`
	textUpdated = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{` + subscriptionID + `,"uri":"test://text"}}`
	listChanged = `{"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{` + subscriptionID + `}}`
	ended       = `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","_meta":{` +
		`"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/subscriptionId":7}}}`
)

func TestSubscriptionByByte(t *testing.T) {
	var s *mcptest.Source
	overPipes(t, func() resource.Source { s = streamtest.Source(); return s }, func(t *testing.T, h *streamable.Handler, dial func() net.Conn) {
		c := listen(t, dial(), "HTTP/1.1", watchText)
		steps := []struct {
			name string
			do   func()
			want string
		}{
			{"head and acknowledgment", func() {}, "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Type: text/event-stream\r\n" +
				"Date: Sat, 01 Jan 2000 00:00:00 GMT\r\nTransfer-Encoding: chunked\r\nX-Accel-Buffering: no\r\nX-Content-Type-Options: nosniff\r\n\r\n" +
				chunk(event(acknowledged))},
			{"an update", func() { s.Text("test://text", "new") }, chunk(event(textUpdated))},
			{"another of the list", func() { s.Text("test://new", "new") }, chunk(event(listChanged))},
			{"something else", func() { s.Text("test://new", "newer") }, ""},
			{"bytes from the client", func() { fmt.Fprint(c.conn, strings.Repeat("GET / HTTP/1.1\r\n\r\n", 9)) }, ""},
			{"silence", func() { time.Sleep(15 * time.Second) }, "e\r\n: still here\n\n\r\n"},
			{"more silence", func() { time.Sleep(30 * time.Second) }, strings.Repeat("e\r\n: still here\n\n\r\n", 2)},
			{"the end", func() { h.Close(); <-c.done }, chunk(event(ended)) + "0\r\n\r\n"},
		}
		for _, step := range steps {
			step.do()
			synctest.Wait()
			if diff := cmp.Diff(step.want, c.received()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
		}
		refused := listen(t, dial(), "HTTP/1.1", watchText)
		if got := refused.received(); !strings.Contains(got, "The server is shutting down") {
			t.Errorf("after Close: got %s", got)
		}
		refused.conn.Close()
	})
}

func TestSubscriptionOfAnOldClientIsNotChunked(t *testing.T) {
	var s *mcptest.Source
	overPipes(t, func() resource.Source { s = streamtest.Source(); return s }, func(t *testing.T, h *streamable.Handler, dial func() net.Conn) {
		c := listen(t, dial(), "HTTP/1.0", watchText)
		s.Text("test://text", "new")
		synctest.Wait()
		h.Close()
		<-c.done
		_, got, _ := strings.Cut(c.received(), "\r\n\r\n")
		if diff := cmp.Diff(event(acknowledged)+event(textUpdated)+event(ended), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAStalledSubscriberDelaysNoOther(t *testing.T) {
	var s *mcptest.Source
	overPipes(t, func() resource.Source { s = streamtest.Source(); return s }, func(t *testing.T, _ *streamable.Handler, dial func() net.Conn) {
		begin := time.Now()
		stalled := dial()
		subscribe(t, stalled, "HTTP/1.1", watchText) // and reads not even the head
		c := listen(t, dial(), "HTTP/1.1", watchText)
		c.received()
		for range 100 {
			s.Text("test://text", "new")
			synctest.Wait()
			if got := c.received(); got != chunk(event(textUpdated)) {
				t.Fatalf("got %q", got)
			}
		}
		if passed := time.Since(begin); passed != 0 {
			t.Errorf("it took %v", passed)
		}
		time.Sleep(29 * time.Second)
		if n := s.Watchers(); n != 2 {
			t.Errorf("got %d watchers before the stalled one's time is up, want 2", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := s.Watchers(); n != 1 {
			t.Errorf("got %d watchers after it, want 1", n)
		}
		stalled.Close()
		c.conn.Close()
	})
}

func TestAStalledSubscriberMissesNothing(t *testing.T) {
	var s *mcptest.Source
	overPipes(t, func() resource.Source { s = streamtest.Source(); return s }, func(t *testing.T, h *streamable.Handler, dial func() net.Conn) {
		conn := dial()
		subscribe(t, conn, "HTTP/1.1", watchText)
		synctest.Wait()
		for i := range 100 {
			s.Text("test://text", "new")
			s.Text(fmt.Sprint("test://", i), "new")
			synctest.Wait()
		}
		ended := make(chan error)
		go func() { ended <- h.Close() }()
		synctest.Wait() // what came after the head is merged with the end
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if err != nil || strings.Count(string(got), "updated") != 1 || strings.Count(string(got), "list_changed") != 1 || strings.Count(string(got), "complete") != 1 {
			t.Errorf("got %s, %v", got, err)
		}
		<-ended
	})
}

func TestManyChangesAtOnceArriveEach(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes thousands of changes")
	}
	var uris []string
	for i := range 1000 {
		uris = append(uris, fmt.Sprintf("test://%0100d", i))
	}
	var s *mcptest.Source
	overPipes(t, func() resource.Source { s = mcptest.New(); return s }, func(t *testing.T, h *streamable.Handler, dial func() net.Conn) {
		for _, uri := range uris {
			s.Text(uri, "")
		}
		c := listen(t, dial(), "HTTP/1.1", `{"resourceSubscriptions":["`+strings.Join(uris, `","`)+`"]}`)
		c.received()
		for _, uri := range uris {
			s.Text(uri, "new")
		}
		synctest.Wait()
		got := c.received()
		for _, uri := range uris {
			if strings.Count(got, strconv.Quote(uri)) != 1 {
				t.Fatalf("%s is not reported once", uri)
			}
		}
		c.conn.Close()
	})
}

// A long acknowledgment is sent in parts. It arrives whole, even when the server is closed meanwhile.
func TestALongAcknowledgmentArrivesWhole(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/1.0"} {
		t.Run(proto, func(t *testing.T) { testLongAcknowledgment(t, proto) })
	}
}

func testLongAcknowledgment(t *testing.T, proto string) {
	var s *mcptest.Source
	overPipes(t, func() resource.Source { s = streamtest.Source(); return s }, func(t *testing.T, h *streamable.Handler, dial func() net.Conn) {
		conn, filter := dial(), streamtest.WatchMuch(s)
		subscribe(t, conn, proto, filter)
		synctest.Wait()
		closed := make(chan error)
		go func() { closed <- h.Close() }()
		synctest.Wait()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := event(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+subscriptionID+
			`,"notifications":`+filter+`}}`) + event(ended)
		if string(got) != want {
			t.Errorf("got %d bytes that are not the %d wanted", len(got), len(want))
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

func TestASubscriberThatLeavesGivesUpItsPlace(t *testing.T) {
	var s *mcptest.Source
	overPipes(t, func() resource.Source { s = streamtest.Source(); return s }, func(t *testing.T, _ *streamable.Handler, dial func() net.Conn) {
		begin := time.Now()
		for range 20 { // of whom there is room for four
			c := listen(t, dial(), "HTTP/1.1", watchText)
			if got := c.received(); !strings.Contains(got, acknowledged) {
				t.Fatalf("got %s", got)
			}
			c.conn.Close()
			synctest.Wait()
			if n := s.Watchers(); n != 0 {
				t.Fatalf("got %d watchers, want none", n)
			}
		}
		if passed := time.Since(begin); passed != 0 {
			t.Errorf("it took %v", passed)
		}
	})
}

func TestCloseDoesNotWaitForAStalledSubscriber(t *testing.T) {
	var s *mcptest.Source
	overPipes(t, func() resource.Source { s = streamtest.Source(); return s }, func(t *testing.T, h *streamable.Handler, dial func() net.Conn) {
		stalled := dial()
		subscribe(t, stalled, "HTTP/1.1", watchText)
		c := listen(t, dial(), "HTTP/1.1", watchText)
		begin := time.Now()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if passed := time.Since(begin); passed > 3*time.Second {
			t.Errorf("Close took %v", passed)
		}
		<-c.done
		if got := c.received(); !strings.HasSuffix(got, chunk(event(ended))+"0\r\n\r\n") {
			t.Errorf("got %s", got)
		}
		stalled.Close()
	})
}

// A deadlocked source accepts no subscription.
type deadlocked struct{ *mcptest.Source }

func (deadlocked) Subscribe(ctx context.Context, _ []abi.URI, _ bool, _ resource.Notifier) ([]abi.URI, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestCloseAndClientsEndSubscriptionsThatHaveNotBegun(t *testing.T) {
	overPipes(t, func() resource.Source { return deadlocked{streamtest.Source()} }, func(t *testing.T, h *streamable.Handler, dial func() net.Conn) {
		gone := listen(t, dial(), "HTTP/1.1", watchText)
		gone.conn.Close()
		<-gone.done
		c := listen(t, dial(), "HTTP/1.1", watchText)
		if got := c.received(); got != "" {
			t.Errorf("got %s before it has begun", got)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got := c.received(); !strings.Contains(got, `"error":{"code":499`) {
			t.Errorf("got %s, want an error", got)
		}
		c.conn.Close()
	})
}

// A late source accepts subscriptions when the server is being closed.
type late struct {
	*mcptest.Source
	asked chan struct{}
}

func (l late) Subscribe(ctx context.Context, uris []abi.URI, _ bool, _ resource.Notifier) ([]abi.URI, error) {
	l.asked <- struct{}{}
	<-ctx.Done()
	return uris, nil
}

func TestCloseDoesNotWaitForAStalledSubscriberThatBeginsLate(t *testing.T) {
	var asked chan struct{}
	overPipes(t, func() resource.Source { asked = make(chan struct{}, 1); return late{mcptest.New(), asked} }, func(t *testing.T, h *streamable.Handler, dial func() net.Conn) {
		stalled := dial()
		subscribe(t, stalled, "HTTP/1.1", watchText)
		<-asked
		begin := time.Now()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if passed := time.Since(begin); passed > 3*time.Second {
			t.Errorf("Close took %v", passed)
		}
		stalled.Close()
	})
}

func TestSilentStreamStaysAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		r := streamtest.Post(streamtest.Body("1", "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`)).WithContext(ctx)
		w := httptest.NewRecorder()
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.ServeHTTP(w, r)
		}()
		time.Sleep(46 * time.Second)
		cancel()
		<-done
		comments := 0
		for line := range strings.Lines(w.Body.String()) {
			if strings.HasPrefix(line, ":") {
				comments++
			}
		}
		if comments != 3 || !w.Flushed {
			t.Errorf("got %d comments in 46 s, flushed %v, want 3", comments, w.Flushed)
		}
	})
}

// Clients subscribe and leave over TCP while resources change, until the server is closed.
func TestSubscriberHammer(t *testing.T) {
	s := streamtest.Source()
	h := streamtest.NewHandler(t, s, streamable.Config{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go server.Serve(listener)
	defer server.Close()
	var clients, changes sync.WaitGroup
	stop := make(chan struct{})
	changes.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				s.Text("test://text", strconv.Itoa(i))
			}
		}
	})
	var staying sync.WaitGroup
	for worker := range 8 {
		staying.Add(1)
		clients.Go(func() {
			for i := range 50 {
				next, hangUp := hammered(t, listener.Addr())
				for range 1 + (worker+i)%5 {
					if got := next(); !strings.HasPrefix(got, "{") {
						t.Errorf("got %s", got)
					}
				}
				hangUp()
			}
			next, hangUp := hammered(t, listener.Addr())
			defer hangUp()
			last := next()
			staying.Done()
			for got := last; got != "EOF" && strings.HasPrefix(got, "{"); got = next() {
				last = got
			}
			if last != ended {
				t.Errorf("the last was %s", last)
			}
		})
	}
	staying.Wait()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	clients.Wait()
	close(stop)
	changes.Wait()
	s.AwaitWatchers(0)
}

// hammered makes a subscription: next gives its messages, and hangUp ends it.
func hammered(t *testing.T, server net.Addr) (next func() string, hangUp func() error) {
	response := streamtest.Send(t.Context(), t, "http://"+server.String(), streamtest.Body("7", mcp.ListenMethod, `"notifications":`+watchText))
	return streamtest.Events(t, response.Body), response.Body.Close
}
