package fastpath_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// A server that leaves its socket answers each connection once more, so that no client sends a request to a connection that is
// being closed, and ends the streams of sessions.
func TestAServerThatLeavesLosesNoRequest(t *testing.T) {
	sv := newServers(t, streamtest.NewFront(t, streamtest.Source(), mcp.Config{}, streamable.Config{}), nil)
	used, fresh, pipelined := dial(t, sv.fast), dial(t, sv.fast), dial(t, sv.fast)
	answer := func(c *client, wantClose bool) {
		t.Helper()
		text, _ := c.answer("POST")
		if !strings.HasPrefix(text, "200") || strings.Contains(text, "close=true") != wantClose {
			t.Errorf("got %s", text)
		}
	}
	io.WriteString(used.conn, modernRead("test://text"))
	answer(used, false)
	session := open(t, sv.fast)
	stream := dial(t, sv.fast)
	io.WriteString(stream.conn, strings.ReplaceAll(strings.Replace(inSession(""), "POST", "GET", 1), sessionMark, session))
	events, err := http.ReadResponse(stream.in, nil)
	if err != nil || events.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", events, err)
	}
	seen := sv.netHTTP.Load()
	sv.server.Leave()
	if _, err := io.Copy(io.Discard, events.Body); err != nil {
		t.Errorf("the stream was cut: %v", err)
	}
	for _, c := range []*client{used, fresh} {
		io.WriteString(c.conn, modernRead("test://text"))
		answer(c, true)
		if _, err := c.in.ReadByte(); err != io.EOF {
			t.Errorf("the connection stays open: %v", err)
		}
	}
	io.WriteString(pipelined.conn, sessionReadOf(session)+modernRead("test://text"))
	answer(pipelined, true)
	if got := sv.netHTTP.Load() - seen; got < 3 {
		t.Errorf("net/http has answered %d requests", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	sv.server.Wait(ended) // the connection that opened the session is idle
}

func sessionReadOf(session string) string {
	return strings.ReplaceAll(sessionRead("1", "test://text"), sessionMark, session)
}
