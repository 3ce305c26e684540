package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/wasi"
)

// Call runs one operation in a fresh instance. Contents go to sink while the guest runs; nil refuses them. Errors are
// classified by [abi.CodeOf]. After an error what sink got is void.
func (m *Module) Call(ctx context.Context, op abi.Op, req *abi.Request, sink abi.Sink) (*abi.Reply, error) {
	if op != abi.OpDescribe && !m.manifest.Implements(op) {
		return nil, abi.Errorf(abi.CodeUnsupported, "the provider does not implement %s", op)
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer func() { <-m.slots }()
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Limits.Timeout)
	defer cancel()
	s, err := m.ready.take(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if op != abi.OpDescribe {
		if err := s.configure(ctx); err != nil {
			return nil, fmt.Errorf("configure: %w", err)
		}
	}
	return s.run(ctx, op, req, sink)
}

// enter waits for a slot, for as long as a call may last.
func (m *Module) enter(ctx context.Context) error {
	select {
	case <-m.closing:
		return errClosing()
	default:
	}
	select {
	case m.slots <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(m.cfg.Limits.Timeout)
	defer timer.Stop()
	select {
	case m.slots <- struct{}{}:
		return nil
	case <-m.closing:
		return errClosing()
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		busy := abi.Errorf(abi.CodeBusy, "%d calls are running already", cap(m.slots))
		busy.RetryAfter = m.cfg.Limits.Timeout
		return busy
	}
}

func errClosing() error { return abi.Errorf(abi.CodeUnavailable, "the provider is closing") }

// A sandbox is one instance and what it is doing. It belongs to one goroutine at a time.
type sandbox struct {
	module *Module
	inst   engine.Instance
	call   *call // what host functions work for
}

func (s *sandbox) begin(c *call) { s.call = c }

func (s *sandbox) close() {
	if err := s.inst.Close(); err != nil {
		s.module.cfg.Logger.Warn("instance close failed", "err", clip(err))
	}
}

// initialize runs the guest's own start, if it has one.
func (s *sandbox) initialize(ctx context.Context) error {
	if _, ok := s.module.compiled.Exports()[abi.ExportInitialize]; !ok {
		return nil
	}
	defer s.call.flushOutput()
	if err := s.inst.Call(ctx, abi.ExportInitialize, nil); err != nil {
		return fmt.Errorf("initialise: %w", s.classify(ctx, err))
	}
	return nil
}

// configure hands the configuration to guests that want it.
func (s *sandbox) configure(ctx context.Context) error {
	if !s.module.manifest.Implements(abi.OpConfigure) {
		return nil
	}
	_, err := s.run(ctx, abi.OpConfigure, &abi.Request{Config: s.module.cfg.Config, HostMinor: abi.Minor}, nil)
	return err
}

// run makes the guest do one operation.
func (s *sandbox) run(ctx context.Context, op abi.Op, req *abi.Request, sink abi.Sink) (_ *abi.Reply, err error) {
	defer contain(&err)
	request := req.Append(nil)
	if len(request) > abi.MaxRequest {
		return nil, abi.Errorf(abi.CodeInvalidParams, "the request has %d bytes, at most %d are allowed", len(request), abi.MaxRequest)
	}
	deadline, _ := ctx.Deadline()
	c := &call{module: s.module, op: op, request: request, sink: sink, deadline: deadline, limit: req.Limit, serving: true}
	s.begin(c)
	defer c.flushOutput()
	stack := []uint64{uint64(op), uint64(len(request))}
	if err := s.inst.Call(ctx, abi.ExportCall, stack); err != nil {
		return nil, s.classify(ctx, err)
	}
	return c.finish(abi.FromGuest(uint32(stack[0])))
}

// classify decides what the failure of a guest was. The guest cannot choose: what the host itself knows comes first.
func (s *sandbox) classify(ctx context.Context, err error) error {
	var stop engine.Stop
	var exit wasi.Exit
	var known *abi.Error
	switch {
	case s.call.failure != nil:
		return s.call.failure
	case ctx.Err() != nil:
		return s.module.ended(ctx).Because(clip(err))
	case s.inst != nil && s.inst.MemoryRefused():
		return abi.Errorf(abi.CodeMemory, "the provider needs more than %d MiB of memory", s.module.cfg.Limits.Memory>>20).Because(clip(err))
	case errors.As(err, &stop) && errors.As(stop.Err, &exit):
		return abi.Errorf(abi.CodeExit, "the provider exited").Because(exit)
	case errors.As(err, &stop) && errors.As(stop.Err, &known):
		return known
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
	sink     abi.Sink
	deadline time.Time
	limit    uint32 // entries wanted on a page; 0 for any
	serving  bool   // emit, body and call are allowed

	// owned by the goroutine that runs the guest
	reply    abi.Reply
	response capability.Response
	contents int
	kind     abi.Kind // of the content last begun
	bytes    uint64   // of all bodies
	framed   uint64   // bytes of all frames, inline bodies aside
	logged   int
	partial  [2][]byte // lines of standard output and error that have no end yet
	failure  error     // the first; the guest may run on but cannot undo it
}

// finish turns what the guest emitted and answered into the outcome.
func (c *call) finish(code abi.Code) (*abi.Reply, error) {
	switch {
	case c.failure != nil:
		return nil, c.failure
	case code != abi.CodeOK:
		return nil, c.guestError(code)
	case c.op == abi.OpRead && c.contents == 0:
		return nil, abi.Errorf(abi.CodeProtocol, "the provider answered a read without contents")
	}
	return &c.reply, nil
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
