package fastpath_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/forwarded"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/fastpath"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

const (
	headerTimeout = 10 * time.Second
	idle          = 2 * time.Minute
	maxHeader     = 64 << 10
)

// servers serve one Handler twice: with a Server, and with net/http alone.
type servers struct {
	fast, standard string // addresses, of the Server first
	server         *fastpath.Server
	netHTTP        *atomic.Int64 // requests to the Server that net/http has read
}

// standardServer has the limits of a Server.
func standardServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idle, MaxHeaderBytes: maxHeader}
}

// A countingRouter counts the requests that net/http reads.
type countingRouter struct {
	*streamable.Handler
	netHTTP atomic.Int64
}

func (r *countingRouter) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.netHTTP.Add(1)
	r.Handler.ServeHTTP(w, req)
}

// newServers serves h until the test ends. wrap replaces connections; nil does not.
func newServers(t *testing.T, h *streamable.Handler, wrap func(net.Conn) net.Conn) *servers {
	t.Helper()
	return newServersBehind(t, h, wrap, nil)
}

// newServersBehind is newServers behind proxies.
func newServersBehind(t *testing.T, h *streamable.Handler, wrap func(net.Conn) net.Conn, proxies *forwarded.Proxies) *servers {
	t.Helper()
	router := &countingRouter{Handler: h}
	server, err := fastpath.NewServer(router, fastpath.Config{Proxies: proxies})
	if err != nil {
		t.Fatal(err)
	}
	sv := &servers{server: server, netHTTP: &router.netHTTP}
	standard := standardServer(proxies.Handler(h))
	a, b := listen(t, wrap), listen(t, wrap)
	sv.fast, sv.standard = a.Addr().String(), b.Addr().String()
	served := make(chan error, 2)
	go func() { served <- server.Serve(a) }()
	go func() { served <- standard.Serve(b) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(server.Shutdown(ctx), standard.Close()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		for range 2 {
			if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
				t.Errorf("serve: %v", err)
			}
		}
	})
	return sv
}

type wrapped struct {
	net.Listener
	wrap func(net.Conn) net.Conn
}

func (w wrapped) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return w.wrap(c), nil
}

func listen(t *testing.T, wrap func(net.Conn) net.Conn) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if wrap != nil {
		l = wrapped{l, wrap}
	}
	return l
}

// A remoteConn arrived on an address that is not a loopback address.
type remoteConn struct{ *net.TCPConn }

func (remoteConn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 80} }

func asRemote(c net.Conn) net.Conn { return remoteConn{c.(*net.TCPConn)} }

// A client is a connection to a server.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(t testing.TB, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return newClient(c)
}

func newClient(c net.Conn) *client { return &client{c, bufio.NewReader(c)} }

var errorID = regexp.MustCompile(`"errorId":"[A-Z2-7]+"`)

// answer reads the response to a request with a method. text has what both servers must agree on.
func (c *client) answer(method string) (text string, closed bool) {
	return readAnswer(c.in, method)
}

func readAnswer(in *bufio.Reader, method string) (text string, closed bool) {
	r, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return endOf(err), true
	}
	defer r.Body.Close()
	if r.Body == nil || r.StatusCode == http.StatusContinue {
		return "continue", false
	}
	r.Header.Del("Date")
	if id := r.Header.Get("Mcp-Session-Id"); id != "" {
		r.Header.Set("Mcp-Session-Id", "some")
	}
	body, err := io.ReadAll(r.Body)
	text = fmt.Sprintf("%d %v %v %d close=%v %s", r.StatusCode, r.Header, r.TransferEncoding, r.ContentLength, r.Close, body)
	if err != nil {
		text += " " + endOf(err)
	}
	return errorID.ReplaceAllString(text, `"errorId":""`), err != nil
}

// endOf says whether the server has closed the connection.
func endOf(err error) string {
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return "(silence)"
	}
	return "(closed)"
}

// raw makes a request. headers are changes to those that a client sends: an empty value removes a header, and a name with
// + adds another of that name at the end.
func raw(line, body string, headers ...string) string {
	all := [][2]string{{"Host", "localhost"}, {"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}}
	all = append(all, [2]string{"Content-Length", fmt.Sprint(len(body))})
	for i := 0; i < len(headers); i += 2 {
		all = change(all, headers[i], headers[i+1])
	}
	var b strings.Builder
	b.WriteString(line + "\r\n")
	for _, h := range all {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	return b.String() + "\r\n" + body
}

func change(all [][2]string, name, value string) [][2]string {
	if more, ok := strings.CutPrefix(name, "+"); ok {
		return append(all, [2]string{more, value})
	}
	for i, h := range all {
		if !strings.EqualFold(h[0], name) {
			continue
		}
		if value == "" {
			return append(all[:i:i], all[i+1:]...)
		}
		all[i] = [2]string{name, value}
		return all
	}
	if value == "" {
		return all
	}
	return append(all, [2]string{name, value})
}

const postLine = "POST /mcp HTTP/1.1"

// modern makes a request of revision 2026-07-28.
func modern(method, uri, body string, headers ...string) string {
	all := []string{"MCP-Protocol-Version", streamtest.Revision, "Mcp-Method", method}
	if uri != "" {
		all = append(all, "Mcp-Name", uri)
	}
	return raw(postLine, body, append(all, headers...)...)
}

// modernRead makes a read of revision 2026-07-28.
func modernRead(uri string, headers ...string) string {
	return modern("resources/read", uri, streamtest.Body("1", "resources/read", fmt.Sprintf(`"uri":%q`, uri)), headers...)
}

const (
	sessionMark = "<session>" // stands for the session
	spareMark   = "<spare>"   // stands for a session that only this request uses
)

// inSession makes a request of an older revision.
func inSession(body string, headers ...string) string {
	all := []string{"Mcp-Session-Id", sessionMark, "MCP-Protocol-Version", streamtest.OldRevision}
	return raw(postLine, body, append(all, headers...)...)
}

func sessionRead(id, uri string, headers ...string) string {
	return inSession(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"resources/read","params":{"uri":%q}}`, id, uri), headers...)
}

// open opens a session of an older revision and gives its name.
func open(t testing.TB, addr string) string {
	t.Helper()
	c := dial(t, addr)
	io.WriteString(c.conn, raw(postLine, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+streamtest.OldRevision+
		`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, r.Body)
	id := r.Header.Get("Mcp-Session-Id")
	io.WriteString(c.conn, raw(postLine, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"Mcp-Session-Id", id, "MCP-Protocol-Version", streamtest.OldRevision))
	if answer, _ := c.answer("POST"); !strings.HasPrefix(answer, "202 ") || id == "" {
		t.Fatalf("session %q: got %s", id, answer)
	}
	for answer := ""; !strings.Contains(answer, "application/json"); { // the notification is handled a little later
		io.WriteString(c.conn, strings.ReplaceAll(sessionRead("0", "test://text"), sessionMark, id))
		var closed bool
		if answer, closed = c.answer("POST"); closed {
			t.Fatalf("session %q: got %s", id, answer)
		}
	}
	return id
}
