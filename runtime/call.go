package runtime

import (
	"context"
	"time"

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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	at, err := m.turns.queue(ctx, req.Session)
	if err != nil {
		return nil, err
	}
	defer m.turns.leave(at)
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer func() { m.slots <- struct{}{} }()
	return m.serve(ctx, m.host.newCall(op, req, sink))
}

// serve runs a call that has its turn and a slot.
func (m *Module) serve(ctx context.Context, c *Call) (*abi.Reply, error) {
	b := deadline.New(ctx, m.host.limits.Timeout)
	defer b.Release()
	defer c.depart()
	c.ctx, c.bounds = ctx, b
	c.deadline, _ = b.Deadline()
	began := time.Now()
	err := c.verdict(m.guests.Call(b, c))
	m.pace.spend(began, c.busy(began))
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

// await waits for a token, for as long as a call may last; what says why there is none.
func (m *Module) await(ctx context.Context, tokens <-chan struct{}, what string) error {
	select {
	case <-m.host.closing:
		return errClosing()
	default:
	}
	select {
	case <-tokens:
		return nil
	default:
	}
	timer := time.NewTimer(m.host.limits.Timeout)
	defer timer.Stop()
	select {
	case <-tokens:
		return nil
	case <-m.host.closing:
		return errClosing()
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return m.host.busy(what)
	}
}

func errClosing() error { return abi.Errorf(abi.CodeUnavailable, "the provider is closing") }
