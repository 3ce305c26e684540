package guest

import (
	"context"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/fair"
	"github.com/wasmres/wasmres/runtime/internal/limiter"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/trace"
)

// A Call is the host's side of one operation of a guest: the request, and the checks of all data from the guest. It
// belongs to the goroutine that runs the guest.
type Call struct {
	Op      abi.Op
	Request *abi.Request // not to be changed; part of the call

	// fixed at creation
	host     *Host
	merger   abi.Merger        // of reply
	ctx      context.Context   // of the caller; one that never ends while the guest starts
	bounds   *deadline.Context // of ctx
	request  abi.Request       // what Request is
	sink     abi.Sink
	waiter   BlockingSink // sink, if it is one
	ticket   limiter.Ticket
	slot     fair.Turn
	pausing  pausing
	gate     Gate        // nil for none
	span     *trace.Span // of the call; nil if it is not traced
	deadline time.Time   // without the time that waiter adds
	serving  bool        // emit, body and call are allowed

	reply        abi.Reply
	contents     int
	kind         abi.Kind      // of the content last begun
	bytes        uint64        // of all bodies
	frameBytes   uint64        // bytes of all frames without inline bodies
	maxFrames    uint64        // the bound of frameBytes
	weight       int           // memory of the resources of reply, in bytes
	reserved     int           // bytes of those
	serviceCalls int           // services
	ungranted    uint64        // a bit for each service that the guest called without a grant
	externalTime time.Duration // time of services that wait for other systems, and of waiting for a worker
	startTime    time.Duration // processor time of starts of the worker
	hostTime     time.Duration // work for the guest while it ran on
	logged       int
	lines        int
	recorded     int // bytes of what the runner logged
	records      int
	lastLines    []string  // the last lines, for the report of a crash
	lastError    string    // the beginning of the last error that the guest logged, if errors are exposed
	partial      [2][]byte // lines of standard output and error that have no end yet
	used         limits.Usage
	reports      reports
	origin       Origin
	tape         *Tape // nil unless the call is recorded
	start        *Tape // of the start of the guest; nil if it is not known
	interrupted  bool
	failure      error // the first one; the guest may run on but cannot remove it
}

// NewCall makes a call of an operation, with a copy of a request. Contents go to sink; nil refuses them.
func (h *Host) NewCall(op abi.Op, req *abi.Request, sink abi.Sink) *Call {
	c := &Call{Op: op, request: *req, host: h, ctx: context.Background(), sink: sink, serving: true}
	c.Request = &c.request
	c.waiter = waiterOf(sink)
	c.maxFrames = h.Limits.Output
	if op == abi.OpDescribe {
		c.maxFrames = abi.MaxManifest // a manifest is no answer to a client
	}
	c.merger = abi.Merger{Reply: &c.reply, MaxItems: h.Limits.Items, To: emission{c}}
	return c
}

// NewLogOnlyCall makes a call in which the guest may only log.
func (h *Host) NewLogOnlyCall(op abi.Op) *Call {
	return &Call{Op: op, Request: &abi.Request{}, host: h}
}

// StartCall makes the call for starting an instance. In it a guest may call services and log, but not answer. It also has
// the budget for log lines between calls.
func (h *Host) StartCall() *Call {
	c := h.NewCall(abi.OpConfigure, &abi.Request{}, nil)
	c.tape = h.newTape()
	return c
}

// Encode appends the encoded request to b. The error is abi.CodeInvalidParams for a request that is too large.
func (c *Call) Encode(b []byte) ([]byte, error) {
	before := len(b)
	b = c.Request.Append(b)
	if len(b)-before > abi.MaxRequest {
		return nil, abi.Errorf(abi.CodeInvalidParams, "the request has more than the %d bytes that are allowed", abi.MaxRequest)
	}
	return b, nil
}

// Begin sets the contexts of a call that has its ticket: ctx is that of the caller, d ends at the deadline.
func (c *Call) Begin(ctx context.Context, d *deadline.Context, ticket limiter.Ticket) {
	c.ctx, c.bounds, c.ticket = ctx, d, ticket
	c.SetDeadline(d)
}

// Bound returns a context for Begin, which ends with that of the caller, and after Limits.Timeout. The caller releases it. It is no part
// of the call: a service may have it for longer, as a connection does that is being made, and would keep the call's reply in memory.
func (c *Call) Bound(ctx context.Context) *deadline.Context { return deadline.New(ctx, c.Timeout()) }

// SetSpan sets the span within which calls of services have theirs; nil for none.
func (c *Call) SetSpan(s *trace.Span) { c.span = s }

// Span returns the span of SetSpan.
func (c *Call) Span() *trace.Span { return c.span }

// Run runs the call without a limiter and returns its error. The call ends with ctx, and after Limits.Timeout at the
// latest. It does not begin if ctx has ended.
func (c *Call) Run(ctx context.Context, guests Guests) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d := c.Bound(ctx)
	defer d.Release()
	c.Begin(ctx, d, limiter.Ticket{})
	return c.FinalError(guests.Call(d, c))
}

// SetDeadline sets the deadline of the call to that of d.
func (c *Call) SetDeadline(d *deadline.Context) { c.deadline, _ = d.Deadline() }

// End releases the ticket, and the slot that the call has by EnterTurn.
func (c *Call) End() {
	busy := c.CPUTime()
	c.slot.Leave(busy)
	c.ticket.Leave(c.bounds.Began(), busy)
}

// Reply returns the guest's answer without its contents.
func (c *Call) Reply() *abi.Reply { return &c.reply }

// Reports returns how many reports of progress the guest has made.
func (c *Call) Reports() int { return c.reports.seen }

// Context returns the context of the caller, which does not include Deadline.
func (c *Call) Context() context.Context { return c.ctx }

// Err returns the first violation of the guest, which is the error of the call.
func (c *Call) Err() error { return c.failure }

// DeadlineError returns the error of a call that exceeds its deadline.
func (c *Call) DeadlineError() error { return c.host.DeadlineError() }

// SetUsage sets the fuel, the host calls and the bytes of memory that the guest used.
func (c *Call) SetUsage(fuel uint64, hostCalls int, memory uint64) {
	c.used.Fuel, c.used.HostCalls, c.used.Memory = fuel, hostCalls, memory
}

// RunsHere reports whether Service calls a service on the goroutine of its caller, which then seldom waits.
func (c *Call) RunsHere(id abi.Service) bool {
	granted := c.host.granted[id]
	return granted != nil && granted.here
}

// Service answers a service call: a notice, or a call of a granted service. The guest gets only the code of a refusal.
// Service returns at most serviceGrace after Deadline, whatever the service does.
func (c *Call) Service(ctx context.Context, id abi.Service, request []byte) (capability.Response, abi.Code) {
	if !c.serving || c.Op == abi.OpDescribe || len(request) > abi.MaxService {
		return capability.Response{}, abi.CodeDenied
	}
	if c.serviceCalls++; c.serviceCalls > c.host.Limits.HostCalls {
		c.Fail(c.host.HostCallsError())
		return capability.Response{}, abi.CodeDenied
	}
	c.PassProgress()
	c.extend()
	began, waited := time.Now(), c.slot.Waited()
	span := c.beginService(id)
	resp, err := c.serve(ctx, id, request)
	if isExternal(id) {
		c.externalTime += time.Since(began) - (c.slot.Waited() - waited)
	}
	c.extend()
	code := abi.CodeOK
	if err != nil {
		c.logRefusal(ctx, id, err)
		resp, code = capability.Response{}, min(abi.CodeOf(err), abi.CodeInternal)
	}
	span.End(code.String())
	if c.tape != nil {
		c.tape.add(id, request, resp, code)
	}
	return resp, code
}

// logRefusal logs a refused call. It uses the guest's log budget, since guests can repeat such calls.
func (c *Call) logRefusal(ctx context.Context, id abi.Service, err error) {
	log := c.host.Logger
	if !log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	if cause := Truncate(err); c.spend(len(cause.Error()), 1) {
		log.DebugContext(ctx, "service refused", "service", uint32(id), "code", abi.CodeOf(err).String(), "err", cause)
	}
}

func (c *Call) serve(ctx context.Context, id abi.Service, request []byte) (capability.Response, error) {
	switch id {
	case abi.ServiceNotifyUpdated:
		return capability.Response{}, c.notifyUpdated(ctx, request)
	case abi.ServiceNotifyList:
		c.notify(ctx, "")
		return capability.Response{}, nil
	}
	granted, ok := c.host.granted[id]
	if !ok {
		c.tellUngranted(ctx, id, request)
		return capability.Response{}, abi.Errorf(abi.CodeDenied, "service %d is not granted", id)
	}
	if granted.here {
		return granted.service.Call(ctx, request)
	}
	if isExternal(id) {
		c.BeginWait()
		defer c.EndWait()
	}
	return c.ask(ctx, granted, request)
}

// tellUngranted reports a service that is not granted to the host, once in a call.
func (c *Call) tellUngranted(ctx context.Context, id abi.Service, request []byte) {
	tell, bit := c.host.OnUngranted, uint64(1)<<(id%64)
	if tell == nil || id >= 64 || c.ungranted&bit != 0 {
		return
	}
	c.ungranted |= bit
	tell(ctx, id, request)
}

func (c *Call) notifyUpdated(ctx context.Context, request []byte) error {
	var req abi.NotifyRequest
	if err := req.Decode(request); err != nil {
		return err
	}
	if err := abi.CheckURI(req.URI); err != nil {
		return abi.Errorf(abi.CodeInvalidParams, "%v", err)
	}
	if err := c.checkPrefix(req.URI); err != nil {
		return err
	}
	c.notify(ctx, req.URI)
	return nil
}

func (c *Call) notify(ctx context.Context, uri string) {
	if notify := c.host.Notify; notify != nil {
		notify(ctx, uri)
	}
}

// FinalError returns the error of the call, given how the guest ended.
func (c *Call) FinalError(err error) error {
	switch {
	case c.failure != nil && abi.CrashOf(err) != nil:
		return &crashError{c.failure, abi.CrashOf(err)}
	case c.failure != nil:
		return c.failure
	case err == nil && c.Op == abi.OpRead && c.contents == 0:
		return abi.Errorf(abi.CodeProtocol, "the provider answered a read without contents")
	}
	return c.exposed(err)
}

// Result returns the error for a code that the guest returned, with the guest's message if there is one.
func (c *Call) Result(code abi.Code) error {
	switch {
	case c.failure != nil:
		return c.failure
	case code == abi.CodeOK:
		return nil
	case code == abi.CodeDeadline && !time.Now().Before(c.Deadline()):
		return c.host.DeadlineError() // whether guest or host noticed first makes no difference
	case c.reply.Error == nil:
		return &abi.Error{Code: code}
	}
	return PublicError(code, c.reply.Error)
}

// PublicError returns the error for a failure in the words of a guest, or of its runner. Forbidden text makes it
// another error.
func PublicError(code abi.Code, said *abi.GuestError) error {
	if err := abi.CheckJSONObject("error data", said.Data); err != nil {
		return err
	}
	e := &abi.Error{Code: code, Message: publicText(said.Message), Data: said.Data}
	e.RetryAfter = time.Duration(min(said.RetryAfterMillis, uint64(24*time.Hour/time.Millisecond))) * time.Millisecond
	return e
}

// publicText returns a text of a guest as one line of at most 1 KiB, with plain white space and escaped invisible
// characters.
func publicText(s string) string {
	const most = 1 << 10
	s = strings.ToValidUTF8(s[:min(len(s), most)], "") // the cut may be within a character
	s = printable.Line(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s))
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}
