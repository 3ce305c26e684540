package runtime

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
)

// Call runs one operation, in an instance that is as the module's lifecycle says. Contents go to sink while the guest
// runs; nil refuses them. Errors are classified by [abi.CodeOf]. After an error what sink got is void. Settle is to be
// called when the answer is on its way.
func (m *Module) Call(ctx context.Context, op abi.Op, req *abi.Request, sink abi.Sink) (*abi.Reply, error) {
	if op != abi.OpDescribe && !m.host.manifest.Implements(op) {
		return nil, abi.Errorf(abi.CodeUnsupported, "the provider does not implement %s", op)
	}
	ticket, err := m.limiter.Enter(ctx, m.host.stateOf(req.Session))
	if err != nil {
		return nil, err
	}
	c := m.host.newCall(op, req, sink)
	c.ticket = ticket
	return m.serve(ctx, c)
}

// serve runs a call that has its ticket.
func (m *Module) serve(ctx context.Context, c *Call) (*abi.Reply, error) {
	b := deadline.New(ctx, m.host.limits.Timeout)
	defer b.Release()
	defer func() { c.ticket.Leave(b.Began(), c.busy(b.Began())) }()
	c.ctx, c.bounds = ctx, b
	c.deadline, _ = b.Deadline()
	err := c.verdict(m.guests.Call(b, c))
	m.investigate(c, err)
	m.observe(ctx, c, err)
	if err != nil {
		return nil, err
	}
	return &c.reply, nil
}

// Settle puts the instances of ended calls back to how they were, so that the next calls need not wait for it. It is
// never needed for correctness: an instance that was not put back is, before it is used again.
func (m *Module) Settle() { m.guests.Settle() }

// EndSession forgets what the calls of a session have left: it has ended, and there are no more.
func (m *Module) EndSession(session string) { m.guests.EndSession(session) }
