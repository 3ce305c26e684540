package nodebench

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/takeover"
	"github.com/wasmres/wasmres/internal/usage"
)

var (
	upgradeRequests = flag.Int("hosting.upgrade.requests", 4000, "requests while Upgrade replaces the server; more come until it is done")
	upgradeRate     = flag.Int("hosting.upgrade.rate", 2000, "requests a second in Upgrade")
)

// Three new servers replace one another, and two more try to and fail, while clients of all kinds send requests over connections
// that stay open and streams of both eras are open: no request is lost, each stream ends well, and what the servers count and
// record is whole.
func TestUpgrade(t *testing.T) {
	if testing.Short() {
		t.Skip("replaces servers under load")
	}
	f := newFarm(t, unbounded)
	f.modules(t, inC, 1)
	for _, id := range []string{"counted", "others"} {
		f.tenant(t, id, inC, 0, anonymous, "plan: unbounded\n")
	}
	ca := certtest.NewAuthority(t)
	certtest.Write(t, ca.Issue(t, &x509.Certificate{DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}), filepath.Join(f.dir, "cert.pem"), filepath.Join(f.dir, "key.pem"))
	const settings = "listen: [{address: \"127.0.0.1:0\"}, {address: \"localhost:0\", tls: {cert: cert.pem, key: key.pem}}]\ndata: data\n" + unbounded
	f.write(t, "serve.yaml", settings)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	f.write(t, "wrong.yaml", strings.Replace(settings, "127.0.0.1:0", taken.Addr().String(), 1))
	s := f.serve(t)
	l := newUpgradeLoad(s.address, s.await(`https://([^/]*)/`)[1], ca.Pool())
	stop := l.begin(t)
	for i := range 3 {
		l.awaitAnswers(*upgradeRequests * (i + 1) / 5)
		next := f.takeOver(t)
		s.awaitEnd()
		s = next
	}
	l.awaitAnswers(*upgradeRequests * 4 / 5)
	f.failToTakeOver(t, "wrong.yaml", "another program listens at "+taken.Addr().String())
	f.dieWhileTakingOver(t)
	s.await("server not replaced: it opens its files again(?s:.*)configuration read")
	l.awaitAnswers(*upgradeRequests)
	stop()
	s.stop()
	if l.lost.Load() > 0 {
		t.Errorf("%d requests or streams were lost: %q", l.lost.Load(), l.problems)
	}
	if l.movedStreams.Load() < 3 || l.movedSessions.Load() < 3 {
		t.Errorf("%d streams and %d sessions have moved to another server", l.movedStreams.Load(), l.movedSessions.Load())
	}
	t.Logf("%d requests, %d streams and %d sessions moved", l.answered.Load(), l.movedStreams.Load(), l.movedSessions.Load())
	rows, err := usage.ReadFile(t.Context(), filepath.Join(f.dir, "data", "usage.db"), usage.Query{Tenant: "counted", To: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if got := int64(r.Requests[usage.OK]); got != l.counted.Load() {
			t.Errorf("%d requests of %q are in the usage, and %d were answered", got, r.Provider, l.counted.Load())
		}
	}
	if len(rows) != 2 { // of the tenant and of its provider
		t.Errorf("the usage has %d rows", len(rows))
	}
	var actions []string
	if _, err := ledger.Verify(t.Context(), filepath.Join(f.dir, "data", "ledger"), ledger.Expect{}); err != nil {
		t.Error(err)
	}
	err = ledger.Read(filepath.Join(f.dir, "data", "ledger"), func(line *ledger.Line) error {
		if strings.HasPrefix(line.Action, "server.") {
			actions = append(actions, line.Action)
		}
		return nil
	})
	const start, handover, end = "server.start", "server.handover", "server.end"
	want := []string{start, handover, start, end, handover, start, end, handover, start, end, handover, start, end, end}
	if err != nil || !slices.Equal(actions, want) {
		t.Errorf("the ledger has %q, %v, want %q", actions, err, want)
	}
}

// takeOver starts a server that replaces the running one, and waits until it does.
func (f *farm) takeOver(tb testing.TB) *server {
	tb.Helper()
	s := start(tb, "serve", "--takeover", "--config", filepath.Join(f.dir, "serve.yaml"), "--cache-dir", guesttest.CacheDir(tb))
	s.await("server taken over")
	return s
}

// failToTakeOver starts a server that cannot replace the running one.
func (f *farm) failToTakeOver(tb testing.TB, config, want string) {
	tb.Helper()
	built = true
	bin, err := buildProgram()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := exec.Command(bin, "serve", "--takeover", "--config", filepath.Join(f.dir, config), "--cache-dir", guesttest.CacheDir(tb)).CombinedOutput()
	if err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "which goes on") {
		tb.Errorf("a server that cannot serve: %v: %s", err, out)
	}
}

// dieWhileTakingOver begins to replace the running server as a program does that ends when the files were released.
func (f *farm) dieWhileTakingOver(tb testing.TB) {
	tb.Helper()
	data, err := filepath.EvalSymlinks(filepath.Join(f.dir, "data"))
	if err != nil {
		tb.Fatal(err)
	}
	conn, err := admin.DialTakeover(tb.Context(), filepath.Join(data, admin.SocketName))
	if err != nil {
		tb.Fatal(err)
	}
	from, err := takeover.Take(conn, data)
	if err == nil {
		err = from.Ready()
	}
	if err = errors.Join(err, from.Close()); err != nil {
		tb.Fatal(err)
	}
}

// An upgradeLoad sends requests to a server.
type upgradeLoad struct {
	plain, secure string
	tls           *tls.Config
	stopped       chan struct{}
	work          sync.WaitGroup
	began         time.Time
	next          atomic.Int64 // number of the next request

	answered, counted, lost     atomic.Int64
	movedStreams, movedSessions atomic.Int64

	mu       sync.Mutex
	problems []string
	open     map[io.Closer]struct{} // streams
}

func newUpgradeLoad(plain, secure string, ca *x509.CertPool) *upgradeLoad {
	return &upgradeLoad{plain: plain, secure: secure, tls: &tls.Config{RootCAs: ca, ServerName: "localhost"}, stopped: make(chan struct{}), open: map[io.Closer]struct{}{}}
}

// begin begins the load. The caller calls stop.
func (l *upgradeLoad) begin(tb testing.TB) (stop func()) {
	l.began = time.Now()
	for range 12 {
		l.work.Go(func() { l.readPlain("counted") })
	}
	for range 4 {
		l.work.Go(l.readInSession)
		l.work.Go(l.listen)
		l.work.Go(l.listenInSession)
	}
	for _, version2 := range []bool{false, true} {
		if l.secure == "" {
			continue
		}
		l.work.Go(func() { l.readSecurely(version2) })
	}
	stop = sync.OnceFunc(func() {
		close(l.stopped)
		l.mu.Lock()
		for c := range l.open {
			_ = c.Close()
		}
		l.mu.Unlock()
		l.work.Wait()
	})
	tb.Cleanup(stop)
	return stop
}

func (l *upgradeLoad) isStopped() bool {
	select {
	case <-l.stopped:
		return true
	default:
		return false
	}
}

// wait waits until the next request is due, and reports false when the load has ended.
func (l *upgradeLoad) wait() bool {
	due := l.began.Add(time.Duration(l.next.Add(1)) * time.Second / time.Duration(*upgradeRate))
	select {
	case <-l.stopped:
		return false
	case <-time.After(time.Until(due)):
		return true
	}
}

func (l *upgradeLoad) awaitAnswers(n int) {
	for l.answered.Load() < int64(n) && l.lost.Load() < 100 {
		time.Sleep(time.Millisecond)
	}
}

// lose counts a request or stream that was lost.
func (l *upgradeLoad) lose(what string, problem any) {
	l.lost.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.problems) < 5 {
		l.problems = append(l.problems, fmt.Sprintf("%s: %v", what, problem))
	}
}

// A line is a connection that is opened when it is needed, and kept as long as the server keeps it.
type line struct {
	address string
	conn    net.Conn
	in      *bufio.Reader
}

func (c *line) send(request []byte) (*http.Response, error) {
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.address, time.Minute)
		if err != nil {
			return nil, err
		}
		c.conn, c.in = conn, bufio.NewReader(conn)
	}
	if err := c.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.in, nil)
}

// exchange sends a request, and reads the whole answer.
func (c *line) exchange(request []byte) (answer *http.Response, body string, err error) {
	if answer, err = c.send(request); err != nil {
		c.close()
		return nil, "", err
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.Close {
		c.close()
	}
	return answer, string(text), err
}

func (c *line) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// readPlain sends requests of the newest revision over one connection.
func (l *upgradeLoad) readPlain(tenantID string) {
	c := &line{address: l.plain}
	defer c.close()
	request := read(tenantID, "", inC.uri)
	for l.wait() {
		answer, body, err := c.exchange(request)
		if err != nil || !isResult(answer.StatusCode, []byte(body)) {
			l.lose("read", fmt.Sprint(answer, body, err))
			continue
		}
		l.answered.Add(1)
		l.counted.Add(1)
	}
}

// readSecurely sends requests by TLS.
func (l *upgradeLoad) readSecurely(version2 bool) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: l.tls.Clone(), ForceAttemptHTTP2: version2, MaxConnsPerHost: 1}, Timeout: time.Minute}
	if !version2 {
		client.Transport.(*http.Transport).TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	defer client.CloseIdleConnections()
	for l.wait() {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(read("others", "", inC.uri)))))
		if err != nil {
			panic(err)
		}
		r.RequestURI, r.URL.Scheme, r.URL.Host, r.GetBody = "", "https", l.secure, nil
		answer, err := client.Do(r)
		if err != nil {
			l.lose("read by TLS", err)
			continue
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || !isResult(answer.StatusCode, body) || (answer.ProtoMajor == 2) != version2 {
			l.lose("read by TLS", fmt.Sprint(answer, string(body), err))
			continue
		}
		l.answered.Add(1)
	}
}

// inSession is a request of revision 2025-11-25.
func inSession(method, session, body string) []byte {
	header := ""
	if session != "" {
		header = "Mcp-Session-Id: " + session + "\r\nMCP-Protocol-Version: 2025-11-25\r\n"
	}
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s",
		method, pathOf("others"), header, len(body), body)
}

// beginSession opens a session.
func (l *upgradeLoad) beginSession(c *line) (session string, ok bool) {
	answer, body, err := c.exchange(inSession("POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}`))
	if err != nil || answer.StatusCode != http.StatusOK {
		l.lose("initialize", fmt.Sprint(answer, body, err))
		return "", false
	}
	session = answer.Header.Get("Mcp-Session-Id")
	answer, body, err = c.exchange(inSession("POST", session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if err == nil && answer.StatusCode == http.StatusNotFound { // the server was replaced meanwhile
		return l.beginSession(c)
	}
	if err != nil || answer.StatusCode != http.StatusAccepted {
		l.lose("initialized", fmt.Sprint(answer, body, err))
		return "", false
	}
	return session, true
}

// readInSession sends requests of a session, and begins another one when the server does not know it any more.
func (l *upgradeLoad) readInSession() {
	c := &line{address: l.plain}
	defer c.close()
	session, ok := l.beginSession(c)
	for ok && l.wait() {
		request := `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"` + inC.uri + `"}}`
		answer, body, err := c.exchange(inSession("POST", session, request))
		switch {
		case err == nil && answer.StatusCode == http.StatusNotFound:
			l.movedSessions.Add(1)
			session, ok = l.beginSession(c)
		case err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(body, `"result":`):
			l.lose("read in a session", fmt.Sprint(answer, body, err))
		default:
			l.answered.Add(1)
		}
	}
}

// follow reads a stream to its end; false if the load has ended.
func (l *upgradeLoad) follow(c *line, request []byte) (text string, status int, err error) {
	answer, err := c.send(request)
	if err != nil {
		return "", 0, err
	}
	l.mu.Lock()
	l.open[c.conn] = struct{}{}
	_ = c.conn.SetDeadline(time.Time{})
	l.mu.Unlock()
	if l.isStopped() {
		_ = c.conn.Close()
	}
	body, err := io.ReadAll(answer.Body)
	l.mu.Lock()
	delete(l.open, c.conn)
	l.mu.Unlock()
	c.close()
	return string(body), answer.StatusCode, err
}

// listen has a subscription open all the time. Each must end with its result.
func (l *upgradeLoad) listen() {
	request := post(pathOf("others"), "", "subscriptions/listen", "")
	for !l.isStopped() {
		text, status, err := l.follow(&line{address: l.plain}, request)
		switch {
		case l.isStopped():
		case err != nil || status != http.StatusOK || !strings.Contains(text, `"result":`):
			l.lose("subscription", fmt.Sprint(status, text, err))
		default:
			l.movedStreams.Add(1)
		}
	}
}

// listenInSession has the stream of a session open all the time. Each must end as HTTP ends an answer.
func (l *upgradeLoad) listenInSession() {
	for !l.isStopped() {
		c := &line{address: l.plain}
		session, ok := l.beginSession(c)
		if !ok {
			return
		}
		text, status, err := l.follow(c, inSession("GET", session, ""))
		switch {
		case l.isStopped(), status == http.StatusNotFound: // the server was replaced meanwhile
		case err != nil || status != http.StatusOK:
			l.lose("stream of a session", fmt.Sprint(status, text, err))
		default:
			l.movedStreams.Add(1)
		}
	}
}

// await waits for a line of the log, and returns what its groups match.
func (s *server) await(pattern string) []string {
	s.b.Helper()
	re := regexp.MustCompile(pattern)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if found := re.FindStringSubmatch(s.text()); found != nil {
			return found
		}
	}
	s.b.Fatalf("the server does not say %q:\n%s", pattern, s.text())
	return nil
}

// awaitEnd waits for the end of a server that was replaced.
func (s *server) awaitEnd() {
	s.b.Helper()
	select {
	case <-s.drained:
	case <-time.After(time.Minute):
		s.b.Fatalf("the server that was replaced does not end:\n%s", s.text())
	}
	if err := s.cmd.Wait(); err != nil {
		s.b.Errorf("the server that was replaced did not end well: %v\n%s", err, s.text())
	}
}

// A service manager that holds the socket starts the next server when the last one has ended: clients wait, and lose nothing.
func TestUpgradeBySocketActivation(t *testing.T) {
	if testing.Short() {
		t.Skip("replaces servers under load")
	}
	f := newFarm(t, unbounded)
	f.modules(t, inC, 1)
	for _, id := range []string{"counted", "others"} {
		f.tenant(t, id, inC, 0, anonymous, "plan: unbounded\n")
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	file, err := socket.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	activate := func() *server {
		s := startWith(t, func(cmd *exec.Cmd) {
			cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=http exec "$0" "$@"`}, cmd.Args...)
			cmd.ExtraFiles = []*os.File{file}
		}, "serve", "--config", filepath.Join(f.dir, "serve.yaml"), "--cache-dir", guesttest.CacheDir(t))
		s.await("operators can connect")
		return s
	}
	s := activate()
	l := newUpgradeLoad(socket.Addr().String(), "", nil)
	stop := l.begin(t)
	for i := range 2 {
		l.awaitAnswers(*upgradeRequests * (i + 1) / 6)
		s.stop()
		s = activate()
	}
	l.awaitAnswers(*upgradeRequests / 2)
	stop()
	s.stop()
	if l.lost.Load() > 0 || l.movedStreams.Load() < 3 || l.movedSessions.Load() < 3 {
		t.Errorf("%d requests or streams were lost, %d streams and %d sessions have moved: %q", l.lost.Load(), l.movedStreams.Load(), l.movedSessions.Load(), l.problems)
	}
}
