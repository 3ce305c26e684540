package runtime

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
	"github.com/wasmres/wasmres/runtime/internal/limiter"
)

// A Call is one operation of a guest, from where its host sits: what is asked of it, and what becomes of all that it
// says. None of it is believed. It belongs to the goroutine that runs the guest.
type Call struct {
	Op      abi.Op
	Request *abi.Request // not to be changed

	// fixed at creation
	host     *guestHost
	merger   abi.Merger        // of reply
	ctx      context.Context   // of who waits; one that never ends while the guest starts
	bounds   *deadline.Context // of ctx
	sink     abi.Sink
	waiter   Waiter // sink, if it is one
	ticket   limiter.Ticket
	deadline time.Time // but for what waiter says
	serving  bool      // emit, body and call are allowed

	reply     abi.Reply
	contents  int
	kind      abi.Kind      // of the content last begun
	bytes     uint64        // of all bodies
	framed    uint64        // bytes of all frames, inline bodies aside
	weight    int           // bytes of memory that the resources of reply take
	reserved  int           // bytes of those
	asked     int           // services
	ungranted uint64        // a bit for each service that was asked for and is not granted
	served    time.Duration // that those took which wait for others
	beside    time.Duration // work for the guest while it ran on
	logged    int
	lines     int
	recorded  int // bytes of what the runner logged
	records   int
	said      []string  // the last lines, for who looks into a crash
	partial   [2][]byte // lines of standard output and error that have no end yet
	used      Usage
	reports   reports
	failure   error // the first; the guest may run on but cannot undo it
}

func (h *guestHost) newCall(op abi.Op, req *abi.Request, sink abi.Sink) *Call {
	c := &Call{Op: op, Request: req, host: h, ctx: context.Background(), sink: sink, serving: true}
	c.waiter = waiterOf(sink)
	c.merger = abi.Merger{Reply: &c.reply, MaxItems: h.limits.Items, To: emission{c}}
	return c
}

// silent makes a call in which the guest may say nothing but log lines.
func (h *guestHost) silent(op abi.Op) *Call { return &Call{Op: op, Request: &abi.Request{}, host: h} }

// Encode appends what the guest is asked to b. A request that is too large is abi.CodeInvalidParams.
func (c *Call) Encode(b []byte) ([]byte, error) {
	before := len(b)
	b = c.Request.Append(b)
	if len(b)-before > abi.MaxRequest {
		return nil, abi.Errorf(abi.CodeInvalidParams, "the request has more than the %d bytes that are allowed", abi.MaxRequest)
	}
	return b, nil
}

// Context is that of who waits for the call: it knows nothing of Deadline.
func (c *Call) Context() context.Context { return c.ctx }

// Err is the first thing that was wrong with what the guest said, which decides what becomes of the call.
func (c *Call) Err() error { return c.failure }

// Overdue is the error of a call that has not ended when it must.
func (c *Call) Overdue() error { return c.host.tookTooLong() }

// Spent says what the guest used.
func (c *Call) Spent(fuel uint64, hostCalls int) { c.used.Fuel, c.used.HostCalls = fuel, hostCalls }

// Service answers a service call: one of notices, or one that is granted. Of a refusal nothing but the code is for the guest.
// It returns at most serviceGrace after Deadline, whatever the service does.
func (c *Call) Service(ctx context.Context, id abi.Service, request []byte) (capability.Response, abi.Code) {
	if !c.serving || c.Op == abi.OpDescribe || len(request) > abi.MaxService {
		return capability.Response{}, abi.CodeDenied
	}
	if c.asked++; c.asked > c.host.limits.HostCalls {
		c.fail(c.host.askedTooOften())
		return capability.Response{}, abi.CodeDenied
	}
	c.passProgress()
	c.extend()
	began := time.Now()
	resp, err := c.serve(ctx, id, request)
	if waits(id) {
		c.served += time.Since(began)
	}
	c.extend()
	if err != nil {
		c.logRefusal(ctx, id, err)
		return capability.Response{}, min(abi.CodeOf(err), abi.CodeInternal)
	}
	return resp, abi.CodeOK
}

// logRefusal takes its line from the guest's budget, since guests can ask again and again.
func (c *Call) logRefusal(ctx context.Context, id abi.Service, err error) {
	log := c.host.logger
	if !log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	if cause := clip(err); c.spend(len(cause.Error()), 1) {
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
	granted, ok := c.host.services[id]
	if !ok {
		c.tellUngranted(ctx, id, request)
		return capability.Response{}, abi.Errorf(abi.CodeDenied, "service %d is not granted", id)
	}
	if granted.immediate {
		return granted.service.Call(ctx, request)
	}
	return c.ask(ctx, granted, request)
}

// tellUngranted tells the host once in a call of a service that is not granted.
func (c *Call) tellUngranted(ctx context.Context, id abi.Service, request []byte) {
	tell, bit := c.host.ungranted, uint64(1)<<(id%64)
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
	if notify := c.host.notify; notify != nil {
		notify(ctx, uri)
	}
}

// verdict is what became of the call, given how the guest ended.
func (c *Call) verdict(err error) error {
	switch {
	case c.failure != nil && abi.CrashOf(err) != nil:
		return &blamed{c.failure, abi.CrashOf(err)}
	case c.failure != nil:
		return c.failure
	case err == nil && c.Op == abi.OpRead && c.contents == 0:
		return abi.Errorf(abi.CodeProtocol, "the provider answered a read without contents")
	}
	return err
}

// Answered is the error of a guest that came back with a code, in its own words if it gave any.
func (c *Call) Answered(code abi.Code) error {
	switch {
	case c.failure != nil:
		return c.failure
	case code == abi.CodeOK:
		return nil
	case code == abi.CodeDeadline && !time.Now().Before(c.Deadline()):
		return c.host.tookTooLong() // who noticed first makes no difference
	case c.reply.Error == nil:
		return &abi.Error{Code: code}
	}
	return Quote(code, c.reply.Error)
}

// Quote makes an error of what a guest, or who runs it, says of a failure. What it must not say is an error of its own.
func Quote(code abi.Code, said *abi.GuestError) error {
	if err := abi.CheckJSONObject("error data", said.Data); err != nil {
		return err
	}
	e := &abi.Error{Code: code, Message: publicText(said.Message), Data: said.Data}
	e.RetryAfter = time.Duration(min(said.RetryAfterMillis, uint64(24*time.Hour/time.Millisecond))) * time.Millisecond
	return e
}

// publicText gives what a guest says to people as one line of at most 1 KiB, in which white space is plain and what is
// hidden is escaped.
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
