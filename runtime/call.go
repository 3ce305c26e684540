package runtime

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/wasi"
)

// Call runs one operation, in an instance that is as the module's lifecycle says. Contents go to sink while the guest
// runs; nil refuses them. Errors are classified by [abi.CodeOf]. After an error what sink got is void. Settle is to be
// called when the answer is on its way.
func (m *Module) Call(ctx context.Context, op abi.Op, req *abi.Request, sink abi.Sink) (*abi.Reply, error) {
	if op != abi.OpDescribe && !m.manifest.Implements(op) {
		return nil, abi.Errorf(abi.CodeUnsupported, "the provider does not implement %s", op)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	at, err := m.keeper.queue(ctx, req.Session)
	if err != nil {
		return nil, err
	}
	if err := m.await(ctx, m.slots, m.crowded); err != nil {
		m.keeper.leave(at)
		return nil, err
	}
	defer func() { m.slots <- struct{}{} }()
	return m.serve(ctx, at, op, req, sink)
}

// serve runs a call that has its turn and a slot.
func (m *Module) serve(ctx context.Context, at *seat, op abi.Op, req *abi.Request, sink abi.Sink) (reply *abi.Reply, err error) {
	b := newBounded(ctx, m.cfg.Limits.Timeout)
	defer b.release()
	s, err := m.keeper.take(b, at)
	if err != nil {
		return nil, err
	}
	defer m.keeper.give(s)
	defer func() { m.observe(op, &s.call, err) }()
	if err := seed(b, s); err != nil {
		return nil, err
	}
	return s.run(b, op, req, sink)
}

// Settle puts the instances of ended calls back to how they were, so that the next calls need not wait for it. It is
// never needed for correctness: an instance that was not put back is, before it is used again.
func (m *Module) Settle() { m.keeper.settle() }

// EndSession forgets what the calls of a session have left: it has ended, and there are no more.
func (m *Module) EndSession(session string) { m.keeper.end(session) }

// seed tells guests that want to know a number nobody can foresee.
func seed(ctx *bounded, s *sandbox) error {
	if !s.module.exports(abi.ExportSeed) {
		return nil
	}
	return s.start(ctx, abi.ExportSeed, rand.Uint64())
}

// await waits for a token, for as long as a call may last; what says why there is none.
func (m *Module) await(ctx context.Context, tokens <-chan struct{}, what string) error {
	select {
	case <-m.closing:
		return errClosing()
	default:
	}
	select {
	case <-tokens:
		return nil
	default:
	}
	timer := time.NewTimer(m.cfg.Limits.Timeout)
	defer timer.Stop()
	select {
	case <-tokens:
		return nil
	case <-m.closing:
		return errClosing()
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return m.busy(what)
	}
}

func errClosing() error { return abi.Errorf(abi.CodeUnavailable, "the provider is closing") }

// classify decides what the failure of a guest was. The guest cannot choose: what the host itself knows comes first.
func (s *sandbox) classify(err error) error {
	var stop engine.Stop
	var exit wasi.Exit
	var known *abi.Error
	switch {
	case s.call.failure != nil:
		return s.call.failure
	case s.ctx.Err() != nil:
		return s.module.ended(s.ctx).Because(clip(err))
	case s.broken:
		return err
	case s.memory.Refused() && s.module.memoryLimit() >= min(s.module.cfg.Limits.Memory, maxPages*engine.PageSize):
		return abi.Errorf(abi.CodeMemory, "the provider needs more than %d MiB of memory", s.module.cfg.Limits.Memory>>20).Because(clip(err))
	case errors.As(err, &stop) && errors.As(stop.Err, &exit):
		return abi.Errorf(abi.CodeExit, "the provider exited").Because(exit)
	case errors.As(err, &stop) && errors.As(stop.Err, &known):
		return known
	case int32(s.depth.Get()) < 0 || errors.Is(err, engine.ErrStack):
		return s.module.tooDeep().Because(clip(err))
	}
	return abi.Errorf(abi.CodeTrap, "the provider crashed").Because(clip(err))
}

// ended says why ctx, which is that of a call, has ended.
func (m *Module) ended(ctx context.Context) *abi.Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return m.tookTooLong()
	}
	return abi.Errorf(abi.CodeCancelled, "cancelled")
}

func (m *Module) tookTooLong() *abi.Error {
	return abi.Errorf(abi.CodeDeadline, "the provider took longer than %v", m.cfg.Limits.Timeout)
}

func (m *Module) tooDeep() *abi.Error {
	return abi.Errorf(abi.CodeStack, "the provider's calls are nested deeper than %d KiB of stack", m.cfg.Limits.Stack>>10)
}

// maxCause bounds what a guest can put into the log by way of an error.
const maxCause = 2 << 10

// clip bounds the text of an error that guests have a hand in.
func clip(err error) error {
	text := err.Error()
	if len(text) <= maxCause {
		return errors.New(text)
	}
	return errors.New(text[:maxCause] + "…")
}

// A call is one operation under way.
type call struct {
	// fixed at creation
	module   *Module
	op       abi.Op
	request  []byte
	reply    *abi.Reply
	merger   abi.Merger // of reply
	sink     abi.Sink
	deadline time.Time
	limit    uint32 // entries wanted on a page; 0 for any
	serving  bool   // emit, body and call are allowed

	// owned by the goroutine that runs the guest
	response capability.Response
	contents int
	kind     abi.Kind // of the content last begun
	asked    int      // calls of the host
	granted  uint64   // fuel
	fuel     uint64   // used, once the guest is back
	stopped  bool     // the guest did not come back by itself
	waited   bool     // for a service, since the clock was looked at
	bytes    uint64   // of all bodies
	framed   uint64   // bytes of all frames, inline bodies aside
	logged   int
	lines    int
	partial  [2][]byte // lines of standard output and error that have no end yet
	failure  error     // the first; the guest may run on but cannot undo it
}

// verdict is what became of the call, given what the guest emitted and answered.
func (c *call) verdict(code abi.Code) error {
	switch {
	case c.failure != nil:
		return c.failure
	case code != abi.CodeOK:
		return c.guestError(code)
	case c.op == abi.OpRead && c.contents == 0:
		return abi.Errorf(abi.CodeProtocol, "the provider answered a read without contents")
	}
	return nil
}

// guestError is what the guest says about its failure, in its own words if it gave any.
func (c *call) guestError(code abi.Code) error {
	if code == abi.CodeDeadline && !time.Now().Before(c.deadline) {
		return c.module.tookTooLong() // who noticed first makes no difference
	}
	e := &abi.Error{Code: code}
	said := c.reply.Error
	if said == nil {
		return e
	}
	if err := abi.CheckJSONObject("error data", said.Data); err != nil {
		return err
	}
	e.Message, e.Data = publicText(said.Message), said.Data
	e.RetryAfter = time.Duration(min(said.RetryAfterMillis, uint64(24*time.Hour/time.Millisecond))) * time.Millisecond
	return e
}

// publicText makes one bounded line of what a guest says to people.
func publicText(s string) string {
	const most = 1 << 10
	s = strings.ToValidUTF8(s[:min(len(s), most)], "") // the cut may be within a character
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
