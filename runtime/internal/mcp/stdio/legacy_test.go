package stdio_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/stdio"
)

// A fakeLegacy answers each line with a description of it.
type fakeLegacy struct {
	mu       sync.Mutex
	received []string
	closed   int
	refuse   bool
	ready    bool
	ended    error
}

func (f *fakeLegacy) Connect(_ context.Context, send func(line []byte) error) (stdio.LegacySession, error) {
	if f.refuse {
		return nil, errors.New("full")
	}
	return &fakeSession{f, send}, nil
}

type fakeSession struct {
	*fakeLegacy
	send func([]byte) error
}

var idPattern = regexp.MustCompile(`"id":(\w+)`)

func (s *fakeSession) Receive(line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return s.ended
	}
	s.received = append(s.received, string(line))
	if id := idPattern.FindSubmatch(line); id != nil {
		return s.send(append([]byte(`{"jsonrpc":"2.0","id":`), append(id[1], `,"result":{"legacy":true}}`...)...))
	}
	return nil
}

func (s *fakeSession) Ready() (mcp.Revision, bool) { return mcp.Revision20251125, s.ready }

func (s *fakeSession) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
	return nil
}

func TestAllRevisionsOnOneStream(t *testing.T) {
	f := &fakeLegacy{}
	c := serve(t, t.Context(), source(), stdio.Config{Legacy: f})
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2026-07-28","capabilities":{}}}`
	steps := []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":8,"method":"resources/list"}`, "8: error -32602"},
		{read("0", "test://text"), "0: hello"},
		{initialize, "1: result"},
		{`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`, "2: result"},
		{read("3", "test://text"), "3: hello"},
		{request("4", "server/discover", ""), "4: result"},
		{`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, "5: result"},
		{`{"jsonrpc":"2.0"`, ": error -32700"},
		{initialize, "1: result"},
	}
	for _, step := range steps {
		c.send(step.line)
		if got := brief(t, c.next()); got != step.want {
			t.Errorf("got %s for %s, want %s", got, step.line, step.want)
		}
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, cancelled("77"), `{"jsonrpc":"2.0","id":9,"result":{}}`)
	if rest, err := c.end(); len(rest) != 1 || err != nil {
		t.Errorf("got %q, %v, want an answer to the response, which the fake takes for a request", rest, err)
	}
	rewritten := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`
	want := []string{
		rewritten, steps[3].line, steps[6].line, rewritten,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, cancelled("77"), `{"jsonrpc":"2.0","id":9,"result":{}}`,
	}
	for i, line := range f.received {
		f.received[i] = strings.TrimSpace(line)
	}
	if diff := cmp.Diff(want, f.received); diff != "" || f.closed != 1 {
		t.Errorf("closed %d times; received (-want +got):\n%s", f.closed, diff)
	}
}

func TestLegacySessionThatEnds(t *testing.T) {
	f := &fakeLegacy{refuse: true}
	c := serve(t, t.Context(), source(), stdio.Config{Legacy: f})
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
	list := `{"jsonrpc":"2.0","id":2,"method":"resources/list"}`
	for _, step := range []struct {
		do         func()
		line, want string
	}{
		{func() {}, initialize, "1: error -32603"},
		{func() { f.refuse = false }, initialize, "1: result"},
		{func() { f.ended = errors.New("over") }, list, "2: error -32600"},
		{func() { f.ended = nil }, list, "2: error -32602"},
		{func() {}, initialize, "1: result"},
		{func() {}, list, "2: result"},
	} {
		f.mu.Lock()
		step.do()
		f.mu.Unlock()
		c.send(step.line)
		if got := brief(t, c.next()); got != step.want {
			t.Errorf("got %s for %s, want %s", got, step.line, step.want)
		}
	}
	if _, err := c.end(); err != nil || f.closed != 2 {
		t.Errorf("got error %v, closed %d times, want 2", err, f.closed)
	}
}

// A session ends after all requests of its connection, those that the core answers included.
func TestALegacySessionEndsAfterAllRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := gated()
		f := &fakeLegacy{ready: true}
		c := serve(t, t.Context(), s, stdio.Config{Legacy: f})
		c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		c.next()
		c.send(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"test://gate"}}`, read("3", "test://gate"))
		time.AfterFunc(time.Second, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.closed != 0 {
				t.Error("the session was closed with requests under way")
			}
			close(g.open)
		})
		rest, err := c.end()
		if len(rest) != 2 || err != nil || f.closed != 1 {
			t.Errorf("got %q, %v, closed %d times", rest, err, f.closed)
		}
	})
}
