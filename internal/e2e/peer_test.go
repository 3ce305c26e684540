package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
)

// The two eras of MCP: requests that stand alone, and the latest revision with sessions.
const (
	modernEra = "2026-07-28"
	legacyEra = "2025-11-25"
)

// A service is a command line that serves providers.
type service struct {
	bin    string
	args   []string
	env    []string
	url    string       // where it is also served over HTTP
	client *http.Client // that peers use; nil is the default
	token  string       // that peers show; empty for none
}

// serve builds the examples and serves those that can be, over HTTP. What is missing for others is in w.missing.
func (w *world) serve(t *testing.T, providers ...string) *service {
	t.Helper()
	s := &service{bin: guesttest.Program(t), args: []string{"--cache-dir", guesttest.CacheDir(t), "--timeout", "30s"}, env: w.env}
	var flags []string
	for _, provider := range providers {
		if w.missing[provider] == nil {
			w.missing[provider] = errNotBuilt
			t.Run("build "+provider, func(t *testing.T) {
				s.args = append(s.args, guesttest.File(t, provider))
				w.missing[provider] = nil
			})
		}
		if w.missing[provider] != nil {
			continue
		}
		flags = append(flags, w.grants[provider]...)
	}
	for i := range flags {
		if len(providers) == 1 {
			flags[i] = strings.TrimPrefix(flags[i], providers[0]+"=")
		}
	}
	s.args = append(s.args, flags...)
	s.url = s.listen(t, "127.0.0.1:0")
	return s
}

// start starts the program until the end of the test. What it says goes to the log of the test, and each line to see.
func (s *service) start(t *testing.T, see func(line string), args ...string) (in io.Writer, out io.Reader) {
	t.Helper()
	cmd := exec.Command(s.bin, append(append([]string{"run"}, args...), s.args...)...)
	cmd.Env = s.env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			t.Log(lines.Text())
			see(lines.Text())
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("wasmres did not end well: %v", err)
		}
	})
	return in, out
}

// listen serves over HTTP at an address and returns the URL.
func (s *service) listen(t *testing.T, addr string) string {
	t.Helper()
	url := make(chan string, 1)
	s.start(t, func(line string) {
		if at, ok := strings.CutPrefix(line, "Serving MCP at "); ok && len(url) == 0 {
			at, _, _ = strings.Cut(at, " ") // other addresses
			url <- at
		}
	}, "--http", addr)
	select {
	case u := <-url:
		return u
	case <-time.After(2 * time.Minute):
		t.Fatal("wasmres did not say where it serves")
		return ""
	}
}

// A peer is a client of one server.
type peer struct {
	era     string
	client  *http.Client
	token   string
	send    func(message []byte, method, name string) // does not wait for the answer
	updated chan string                               // URIs of notices, and listChanged
	ended   chan string                               // methods of MCP, or GET, whose stream of events has ended
	heard   chan struct{}                             // acknowledgments of subscriptions
	session string                                    // of the legacy era, over HTTP
	mu      sync.Mutex
	waiting map[int]chan json.RawMessage // by id; guarded by mu
	last    int                          // id; guarded by mu
}

// listChanged stands for a notice that the list has changed.
const listChanged = "list"

// newPeer makes a client that has sent nothing.
func (s *service) newPeer(era string) *peer {
	return &peer{
		era: era, client: cmp.Or(s.client, http.DefaultClient), token: s.token, updated: make(chan string, 1000),
		ended: make(chan string, 1000), heard: make(chan struct{}, 1000), waiting: map[int]chan json.RawMessage{},
	}
}

// connect makes a client, and has it shake hands in the legacy era.
func (s *service) connect(t *testing.T, transport, era string) *peer {
	t.Helper()
	p := s.newPeer(era)
	if transport == "http" {
		p.send = func(message []byte, method, name string) { go p.post(t, s.url, message, method, name) }
	} else {
		in, out := s.start(t, func(string) {})
		p.send = func(message []byte, _, _ string) { _, _ = in.Write(append(message, '\n')) }
		go p.receiveLines(out, "")
	}
	if era == modernEra {
		return p
	}
	p.call(t, "initialize", map[string]any{"protocolVersion": era, "capabilities": map[string]any{},
		"clientInfo": map[string]string{"name": "e2e", "version": "1"}}, new(json.RawMessage))
	if transport == "http" {
		go p.get(t, s.url)
		p.post(t, s.url, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), "", "")
	} else {
		p.send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), "", "")
	}
	return p
}

// request makes a request with the next id.
func (p *peer) request(t *testing.T, method string, params map[string]any) (message []byte, answer chan json.RawMessage) {
	t.Helper()
	if p.era == modernEra {
		params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": p.era,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	answer = make(chan json.RawMessage, 1)
	p.waiting[p.last] = answer
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.last, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	return message, answer
}

// call sends a request and decodes its result.
func (p *peer) call(t *testing.T, method string, params map[string]any, result any) {
	t.Helper()
	answer, failure := p.ask(t, method, params)
	if failure != nil {
		t.Fatalf("%s %v: %s", method, params, failure)
	}
	if err := json.Unmarshal(answer, result); err != nil {
		t.Fatalf("%s %v: %v in %.200s", method, params, err, answer)
	}
}

// ask sends a request and returns its result or its error.
func (p *peer) ask(t *testing.T, method string, params map[string]any) (result, failure json.RawMessage) {
	t.Helper()
	name, _ := params["uri"].(string)
	if tool, ok := params["name"].(string); ok {
		name = tool
	}
	message, answer := p.request(t, method, params)
	p.send(message, method, name)
	var response struct{ Result, Error json.RawMessage }
	select {
	case text := <-answer:
		if err := json.Unmarshal(text, &response); err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s %s was not answered", method, name)
	}
	return response.Result, response.Error
}

// listen subscribes to a resource and the list in the modern era, and waits until the server has acknowledged it.
func (p *peer) listen(t *testing.T, uri string) {
	t.Helper()
	const method = "subscriptions/listen"
	message, _ := p.request(t, method, map[string]any{"notifications": map[string]any{
		"resourceSubscriptions": []string{uri}, "resourcesListChanged": true,
	}})
	p.send(message, method, "")
	select {
	case <-p.heard:
	case <-time.After(time.Minute):
		t.Fatalf("the subscription to %s was not acknowledged", uri)
	}
}

// receive takes a message of the server.
func (p *peer) receive(text []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ URI string }
	}
	if json.Unmarshal(text, &m) != nil {
		return
	}
	switch m.Method {
	case "":
		id, _ := strconv.Atoi(string(m.ID))
		p.mu.Lock()
		defer p.mu.Unlock()
		if answer := p.waiting[id]; answer != nil {
			answer <- bytes.Clone(text)
			delete(p.waiting, id)
		}
	case "notifications/resources/updated":
		p.updated <- m.Params.URI
	case "notifications/resources/list_changed":
		p.updated <- listChanged
	case "notifications/subscriptions/acknowledged":
		p.heard <- struct{}{}
	}
}

// receiveLines takes the messages that stand on the lines with a prefix.
func (p *peer) receiveLines(r io.Reader, prefix string) {
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadString('\n')
		if message, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			p.receive([]byte(message))
		}
		if err != nil {
			return
		}
	}
}

// post sends a message over HTTP and receives the answer, which lasts for a subscription until the test ends. It returns
// the status, or 0 if there was no answer.
func (p *peer) post(t *testing.T, url string, message []byte, method, name string) (status int) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(message))
	if err != nil {
		panic(err) // the URL was the server's
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if p.era == modernEra {
		r.Header.Set("Mcp-Method", method)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	return p.exchange(r, method)
}

// get receives notices of the legacy era.
func (p *peer) get(t *testing.T, url string) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	p.exchange(r, http.MethodGet)
}

// exchange sends a request, and receives the messages of the response. It returns the status, or 0 if there was no
// response.
func (p *peer) exchange(r *http.Request, method string) (status int) {
	p.mu.Lock()
	session := p.session
	p.mu.Unlock()
	if session != "" || p.era == modernEra {
		r.Header.Set("MCP-Protocol-Version", p.era)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	response, err := p.client.Do(r)
	if err != nil {
		return 0 // the test has ended, or waits in vain and says so
	}
	defer response.Body.Close()
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		p.mu.Lock()
		p.session = id
		p.mu.Unlock()
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		p.receiveLines(response.Body, "data: ")
		p.ended <- method
		return response.StatusCode
	}
	p.receiveLines(response.Body, "")
	return response.StatusCode
}
