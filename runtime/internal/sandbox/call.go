package sandbox

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
)

// Call runs one operation, in an instance by the module's lifecycle. Contents go to sink while the guest runs; a nil sink
// refuses them. [abi.CodeOf] gives the code of an error, after which the contents in sink are invalid. The caller calls
// Settle when it has sent the answer.
func (m *Module) Call(ctx context.Context, op abi.Op, req *abi.Request, sink abi.Sink) (*abi.Reply, error) {
	if op != abi.OpDescribe && !m.host.Manifest().Implements(op) {
		return nil, abi.Errorf(abi.CodeUnsupported, "the provider does not implement %s", op)
	}
	ticket, err := m.limiter.Enter(ctx, m.host.StateKey(req.Session))
	if err != nil {
		return nil, err
	}
	d := deadline.New(ctx, m.cfg.Limits.Timeout)
	defer d.Release()
	c := m.host.NewCall(op, req, sink)
	c.Begin(ctx, d, ticket)
	defer c.End()
	err = c.FinalError(m.guests.Call(d, c))
	guest.CompleteCrash(c, err, m.symbols)
	if m.cfg.Observe != nil {
		m.cfg.Observe(ctx, c.Usage(err))
	}
	if err != nil {
		return nil, err
	}
	return c.Reply(), nil
}

// Settle resets the instances of ended calls. Calling it is optional: an instance that was not reset is reset before its next
// use. It keeps that work out of the next call.
func (m *Module) Settle() { m.guests.ResetUsed() }

// EndSession discards the guest state of a session, which has no more calls.
func (m *Module) EndSession(session string) { m.guests.EndSession(session) }
