package streamable

import (
	"bytes"
	"context"
	"strings"

	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/streamable/response"
)

// answer answers a plain request that c.buf begins with, as net/http and the Handler would. It reports false, and has done
// nothing, when they are to do it: whatever is wrong with a request, or unusual, is theirs.
func (c *conn) answer(h *head) (done bool) {
	m := &c.message
	if m.Parse(c.buf[h.size:h.size+h.body]) != nil || !m.Plain() {
		return false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	finish, ok := c.begin(h, m, cancel)
	if !ok {
		return false
	}
	defer finish()
	c.answering.Lock()
	defer c.answering.Unlock()
	if c.closing.Load() {
		return true // nobody waits for it
	}
	c.peer.watch(&cancel, c.Conn)
	defer c.peer.rest()
	c.respond(ctx, h, m)
	return true
}

// admits holds a request to what the door and the transport demand of it. Most requests say the same as the one before.
func (c *conn) admits(h *head) bool {
	if c.said.admitted && string(h.host) == c.said.host && string(h.accept) == c.said.accept {
		return true
	}
	host, accept := string(h.host), string(h.accept)
	if !isHost(h.host) || !c.server.handler.door.allowsHost(strings.ToLower(host), c.local) || !acceptsBoth([]string{accept}) {
		return false
	}
	c.said.admitted, c.said.host, c.said.accept = true, host, accept
	return true
}

// begin finds out for whom a request is: one of a modern revision stands alone, another belongs to a session. cancel ends
// it; finish is to be called when it is answered.
func (c *conn) begin(h *head, m *mcp.Message, cancel context.CancelCauseFunc) (finish func(), ok bool) {
	if h.session != nil {
		return c.inSession(h, m, cancel)
	}
	version, ok := m.Version()
	if !ok || string(h.version) != version || string(h.method) != m.Method || c.server.handler.cfg.Core.CheckModern(m) != nil {
		return nil, false
	}
	if is, wanted := m.IsAbout(h.name); wanted && (!is || h.name == nil) || bytes.HasPrefix(h.name, []byte("=?")) {
		return nil, false // or it is spelt in another way
	}
	return func() {}, true
}

// inSession makes a request one of its session's.
func (c *conn) inSession(h *head, m *mcp.Message, cancel context.CancelCauseFunc) (finish func(), ok bool) {
	legacy := c.server.handler.cfg.Legacy
	if legacy == nil || m.Modern() {
		return nil, false
	}
	return legacy.Begin(again(&c.said.session, h.session), again(&c.said.version, h.version), m, cancel)
}

// again is what was said before, if it is the same: a string costs an allocation.
func again(before *string, now []byte) string {
	if string(now) != *before {
		*before = string(now)
	}
	return *before
}

// respond has the core answer, and writes that.
func (c *conn) respond(ctx context.Context, h *head, m *mcp.Message) {
	client := response.Client{Local: c.local.IsLoopback()}
	if !client.Local {
		client.AcceptEncoding = string(h.encoding)
	}
	if c.writer.Answer(ctx, c.server.handler.cfg.Core, m, client) != nil {
		c.closing.Store(true) // nobody reads what would follow
	}
}
