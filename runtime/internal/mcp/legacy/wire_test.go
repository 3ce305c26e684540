package legacy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
)

// A message is any JSON-RPC message.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func parse(t *testing.T, text string) message {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

func code(m message) int {
	if m.Error == nil {
		return 0
	}
	return m.Error.Code
}

// A wire is a client on either transport, so that one test covers both.
type wire interface {
	// ask sends a request and gives every message up to the answer, which is last.
	ask(t *testing.T, line string) []message
	// notify sends a notification.
	notify(t *testing.T, line string)
	// notification returns the next notification that belongs to no request.
	notification(t *testing.T) message
	close()
}

// onBoth runs a test over stdio and over HTTP, in the given revision.
func onBoth(t *testing.T, revision string, test func(t *testing.T, f *fake, w wire), change ...func(*legacy.Config)) {
	for name, dial := range map[string]func(*testing.T, *legacy.Front, string) wire{
		"stdio": func(t *testing.T, f *legacy.Front, r string) wire { return dialStdio(t, f, r) },
		"http":  func(t *testing.T, f *legacy.Front, r string) wire { return dialHTTP(t, f, r) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			test(t, f, dial(t, newFront(t, f, change...), revision))
		})
	}
}

func initializeLine(revision string) string {
	return `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":` + quote(revision) +
		`,"capabilities":{},"clientInfo":{"name":"test","version":"0"}}}`
}

const initializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// request makes a call with params, which may be empty.
func request(id int, method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s%s}`, id, quote(method), params)
}

// last sends a request and gives only the answer.
func last(t *testing.T, w wire, line string) message {
	t.Helper()
	all := w.ask(t, line)
	return all[len(all)-1]
}

// A stdioWire is a client on stdio.
type stdioWire struct {
	session *legacy.Session
	lines   chan string
}

// connectStdio opens a session without a handshake.
func connectStdio(t *testing.T, f *legacy.Front) *stdioWire {
	t.Helper()
	w := &stdioWire{lines: make(chan string, 1000)}
	s, err := f.Connect(t.Context(), func(line []byte) error { w.lines <- string(line); return nil })
	if err != nil {
		t.Fatal(err)
	}
	w.session = s
	return w
}

func dialStdio(t *testing.T, f *legacy.Front, revision string) *stdioWire {
	t.Helper()
	w := connectStdio(t, f)
	if m := last(t, w, initializeLine(revision)); m.Result == nil {
		t.Fatalf("initialize: %+v", m)
	}
	w.notify(t, initializedLine)
	last(t, w, request(0, "ping", "")) // notifications come one after another: the list is watched by now
	return w
}

func (w *stdioWire) close() { w.session.Close() }

func (w *stdioWire) notify(t *testing.T, line string) {
	t.Helper()
	if err := w.session.Receive([]byte(line)); err != nil {
		t.Fatalf("receive %s: %v", line, err)
	}
}

func (w *stdioWire) next(t *testing.T) string {
	t.Helper()
	return within(t, "a line", w.lines)
}

func (w *stdioWire) ask(t *testing.T, line string) (all []message) {
	t.Helper()
	w.notify(t, line)
	for {
		m := parse(t, w.next(t))
		all = append(all, m)
		if m.Method == "" {
			return all
		}
	}
}

func (w *stdioWire) notification(t *testing.T) message {
	t.Helper()
	return parse(t, w.next(t))
}

// An httpWire is a client over HTTP.
type httpWire struct {
	url, session string
	events       chan string // of the GET stream
	hangUp       context.CancelFunc
}

// connectHTTP opens a session without a GET stream.
func connectHTTP(t *testing.T, f *legacy.Front, revision string) *httpWire {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	t.Cleanup(func() { f.Close() }) // before the server, which waits for streams
	w := &httpWire{url: server.URL, events: make(chan string, 1000)}
	res, all := w.post(t, initializeLine(revision))
	w.session = res.Header.Get("Mcp-Session-Id")
	if len(all) != 1 || all[0].Result == nil || w.session == "" {
		t.Fatalf("initialize: %s %+v", res.Status, all)
	}
	return w
}

func dialHTTP(t *testing.T, f *legacy.Front, revision string) *httpWire {
	t.Helper()
	w := connectHTTP(t, f, revision)
	w.listen(t)
	w.notify(t, initializedLine)
	last(t, w, request(0, "ping", ""))
	return w
}

// listen opens the GET stream and waits for it.
func (w *httpWire) listen(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w.hangUp = cancel
	res := w.do(t, ctx, http.MethodGet, "")
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET: %s", res.Status)
	}
	go func() {
		defer res.Body.Close()
		readEvents(res.Body, func(data string) { w.events <- data })
	}()
}

func (w *httpWire) request(t *testing.T, ctx context.Context, method, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if w.session != "" {
		req.Header.Set("Mcp-Session-Id", w.session)
	}
	return req
}

func (w *httpWire) do(t *testing.T, ctx context.Context, method, body string) *http.Response {
	t.Helper()
	res, err := http.DefaultClient.Do(w.request(t, ctx, method, body))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// post returns the messages of the answer, which is JSON or a stream.
func (w *httpWire) post(t *testing.T, body string) (*http.Response, []message) {
	t.Helper()
	res := w.do(t, t.Context(), http.MethodPost, body)
	defer res.Body.Close()
	var all []message
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		readEvents(res.Body, func(data string) { all = append(all, parse(t, data)) })
		return res, all
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		all = append(all, parse(t, string(text)))
	}
	return res, all
}

// readEvents calls each with the data of every event that has data.
func readEvents(body io.Reader, each func(data string)) {
	scan := bufio.NewScanner(body)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		if data, ok := strings.CutPrefix(scan.Text(), "data: "); ok && data != "" {
			each(data)
		}
	}
}

func (w *httpWire) ask(t *testing.T, line string) []message {
	t.Helper()
	res, all := w.post(t, line)
	if len(all) == 0 {
		t.Fatalf("%s: %s without a message", line, res.Status)
	}
	return all
}

func (w *httpWire) notify(t *testing.T, line string) {
	t.Helper()
	if res, _ := w.post(t, line); res.StatusCode != http.StatusAccepted {
		t.Fatalf("%s: %s", line, res.Status)
	}
}

func (w *httpWire) notification(t *testing.T) message {
	t.Helper()
	return parse(t, within(t, "an event", w.events))
}

func (w *httpWire) close() {
	if w.hangUp != nil {
		w.hangUp()
	}
}
