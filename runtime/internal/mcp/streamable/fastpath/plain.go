package fastpath

import (
	"bytes"
	"context"
	"crypto/subtle"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/forwarded"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
	"github.com/wasmres/wasmres/runtime/trace"
)

// lastRequest has values of the last request on a connection. Most requests repeat them, and then need neither a check
// nor an allocation.
type lastRequest struct {
	allowedBy    *streamable.Handler // allows host and accept; nil for none
	host, accept string

	// of the last client, for identifiedBy; nil for none
	identifiedBy  *streamable.Handler
	authorization []byte
	forwarded     forwarded.Fields // that a trusted proxy sent
	caller        *auth.Caller
	ctx           context.Context // with caller

	session, version, encoding string
}

// answer answers a plain request to c.handler that c.buf begins with, as net/http and the handler would. It reports
// false, and has done nothing, when the request is malformed or unusual: that is left to them.
func (c *fastConn) answer(h *head) (done bool) {
	m := &c.message
	if m.Parse(c.buf[h.size:h.size+h.body]) != nil || !m.IsSimple() {
		return false
	}
	if len(c.handler.LacksScope(c.context(), m)) > 0 {
		return false
	}
	if h.traceparent != nil && c.handler.Core().Traces() {
		m.Trace = trace.Parent{TraceParent: string(h.traceparent), TraceState: string(h.tracestate)}
	}
	ctx := deadline.NewCancelable(c.context())
	defer ctx.Cancel(nil)
	finish, ok := c.begin(ctx, h, m)
	if !ok {
		return false
	}
	defer finish()
	refused, ok := c.enter()
	if ok {
		defer c.leave()
	}
	c.answering.Lock()
	defer c.answering.Unlock()
	if c.closing.Load() {
		return true // the answer could not be written
	}
	if !ok {
		c.refuse(ctx, m, refused)
		return true
	}
	c.disconnect.begin(ctx, c.Conn)
	defer c.disconnect.end()
	c.respond(ctx, h, m)
	return true
}

// enter counts a request by the account of the client that identify has found.
func (c *fastConn) enter() (refused admission.Refusal, ok bool) {
	if c.last.caller == nil || c.last.caller.Account == nil {
		return refused, true
	}
	return c.last.caller.Account.Enter(1)
}

func (c *fastConn) leave() {
	if c.last.caller != nil && c.last.caller.Account != nil {
		c.last.caller.Account.Leave()
	}
}

// refuse answers a request that is beyond a limit.
func (c *fastConn) refuse(ctx context.Context, m *mcp.Message, refused admission.Refusal) {
	if c.writer.Refuse(c.handler.Core(), m, c.handler.RefuseMessage(ctx, m, refused, time.Now())) != nil {
		c.closing.Store(true)
	}
}

// allows checks the host and the accepted types of a request to c.handler.
func (c *fastConn) allows(h *head) bool {
	last := &c.last
	if last.allowedBy == c.handler && string(h.host) == last.host && string(h.accept) == last.accept {
		return true
	}
	host, accept := string(h.host), string(h.accept)
	if !isHost(h.host) || !c.handler.AllowsHost(strings.ToLower(host), c.local) || !streamable.AcceptsBoth([]string{accept}) {
		return false
	}
	last.allowedBy, last.host, last.accept = c.handler, host, accept
	return true
}

// identify finds out who sends a request to c.handler. It reports false for a client that must be refused. The client is
// known from the last request if the credential is the same and still good, and a trusted proxy names the same client.
func (c *fastConn) identify(h *head) bool {
	last := &c.last
	switch {
	case !c.handler.KnowsCallers():
		last.identifiedBy, last.caller, last.ctx = nil, nil, nil
		return true
	case len(h.authorization) > auth.MaxAuthorization:
		return false
	case last.identifiedBy == c.handler && isSame(h.authorization, last.authorization) && c.isSameClient(h) && last.caller.Valid():
		return true
	}
	remote := c.remote
	if c.proxy.IsValid() {
		last.forwarded = forwarded.Fields{Forwarded: string(h.forwarded), For: string(h.forwardedFor)}
		remote = forwarded.RemoteAddr(c.server.cfg.Proxies.Client(c.proxy, last.forwarded))
	}
	caller, err := c.handler.Identify(remote, auth.Credential{Authorization: string(h.authorization)})
	if err != nil {
		last.identifiedBy, last.caller, last.ctx = nil, nil, nil
		return false
	}
	last.identifiedBy, last.caller = c.handler, caller
	last.authorization = append(last.authorization[:0], h.authorization...)
	last.ctx = auth.WithCaller(context.Background(), caller)
	return true
}

// isSameClient reports whether a request comes from the address of the last one.
func (c *fastConn) isSameClient(h *head) bool {
	return !c.proxy.IsValid() || string(h.forwarded) == c.last.forwarded.Forwarded && string(h.forwardedFor) == c.last.forwarded.For
}

// isSame compares two credentials. Behind a proxy they may be of two clients: the time it takes must not tell one the
// credential of the other.
func isSame(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

// context gives the context of a request, with the client that identify has found.
func (c *fastConn) context() context.Context {
	if c.last.ctx == nil {
		return context.Background()
	}
	return c.last.ctx
}

// begin checks the headers that repeat what is in the body, for a request that stands alone, or finds the session of any
// other, which may cancel ctx. finish is called when the request was answered.
func (c *fastConn) begin(ctx *deadline.Cancelable, h *head, m *mcp.Message) (finish func(), ok bool) {
	if h.session != nil {
		return c.beginInSession(ctx, h, m)
	}
	version, ok := m.Version()
	if !ok || string(h.version) != version || string(h.method) != m.Method || c.handler.Core().CheckModern(m) != nil {
		return nil, false
	}
	if is, wanted := m.TargetIs(h.name); wanted && (!is || h.name == nil) || bytes.HasPrefix(h.name, []byte("=?")) {
		return nil, false // it may be the same name in base64
	}
	return func() {}, true
}

func (c *fastConn) beginInSession(ctx *deadline.Cancelable, h *head, m *mcp.Message) (finish func(), ok bool) {
	legacy := c.handler.Legacy()
	if legacy == nil || m.Modern() {
		return nil, false
	}
	return legacy.Begin(ctx, reuse(&c.last.session, h.session), reuse(&c.last.version, h.version), m)
}

// maxReused is the longest text of a head that a connection remembers, in bytes: idle connections have it, too.
const maxReused = 256

// reuse returns b as a string: the last one if it is the same, since a new one costs an allocation.
func reuse(last *string, b []byte) string {
	if string(b) == *last {
		return *last
	}
	s := string(b)
	if len(s) <= maxReused {
		*last = s
	}
	return s
}

// respond has the core answer m. After an answer that was not written whole, the connection is closed.
func (c *fastConn) respond(ctx context.Context, h *head, m *mcp.Message) {
	client := response.Client{Local: c.local.IsLoopback()}
	if !client.Local {
		client.AcceptEncoding = reuse(&c.last.encoding, h.encoding)
	}
	if c.writer.Answer(ctx, c.handler.Core(), m, client) != nil {
		c.closing.Store(true)
	}
}
