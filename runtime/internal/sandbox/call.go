package sandbox

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
)

// Call runs one operation, in an instance that is as the module's lifecycle says. Contents go to sink while the guest
// runs; nil refuses them. Errors are classified by [abi.CodeOf]. After an error what sink got is void. Settle is to be
// called when the answer is on its way.
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

// Settle puts the instances of ended calls back to how they were, so that the next calls need not wait for it. It is
// optional: an instance that was not reset is reset before it is used again.
func (m *Module) Settle() { m.guests.Settle() }

// EndSession forgets what the calls of a session have left: it has ended, and there are no more.
func (m *Module) EndSession(session string) { m.guests.EndSession(session) }
