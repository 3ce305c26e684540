package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/wire"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/resource"
)

const (
	defaultMaxSubscriptions = 1024
	defaultBudget           = 4 << 20 // bytes
	defaultPatience         = 2 * time.Second
)

// staticTTL is how long clients may keep what does not change while the process runs, in milliseconds.
const staticTTL = 300_000

// Config is what a Core needs. Source, Name and Version are required.
type Config struct {
	Source           resource.Source
	Name             string
	Title            string
	Version          string
	Instructions     string // for the model; empty for none
	Tools            bool   // also offer the resources as the tools list_resources and read_resource
	ModernOnly       bool   // no front serves older revisions: they are not offered
	MaxSubscriptions int    // streams of changes at once, those of sessions included; 0 means 1,024
	Budget           int    // bytes of an answer that are kept while it grows; 0 means 4 MiB
	URIs             *URIs  // of all subscriptions; nil bounds and shares nothing
	// InFlight bounds the memory of all answers that have not been written yet; nil for no bound.
	InFlight *inflight.Budget
	Patience time.Duration // for which a request waits for room there; 0 means 2 s
	// SlowReaders is how many clients may keep a source waiting at once for longer than a moment; 0 means 2 for each
	// processor.
	SlowReaders int
	Logger      *slog.Logger // nil discards
}

func (c *Config) fill() error {
	var errs []error
	for _, f := range []struct {
		name  string
		unset bool
	}{{"Source", c.Source == nil}, {"Name", c.Name == ""}, {"Version", c.Version == ""}} {
		if f.unset {
			errs = append(errs, fmt.Errorf("mcp: %s is required", f.name))
		}
	}
	if c.MaxSubscriptions < 0 || c.Budget < 0 || c.Patience < 0 || c.SlowReaders < 0 {
		errs = append(errs, errors.New("mcp: MaxSubscriptions, Budget, Patience or SlowReaders is negative"))
	}
	if c.SlowReaders == 0 {
		c.SlowReaders = 2 * runtime.GOMAXPROCS(0)
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	if c.Budget == 0 {
		c.Budget = defaultBudget
	}
	if c.MaxSubscriptions == 0 {
		c.MaxSubscriptions = defaultMaxSubscriptions
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return errors.Join(errs...)
}

// A Core answers the methods of a resource server from a Source. It is safe for concurrent use.
type Core struct {
	// fixed at creation
	cfg       Config
	revisions string // those offered, as a JSON array
	server    string // members of _meta that name this server
	head      string // members every modern result begins with
	discovery string // members of the result of server/discover

	streams  *streams
	slow     atomic.Int64 // clients that keep a source waiting
	buffers  wire.Buffers
	pages    pageCache
	pageSize atomic.Int64 // bytes that the last page of a list took before it was encoded
}

// New makes a Core.
func New(cfg Config) (*Core, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	c := &Core{cfg: cfg, revisions: allRevisions, streams: newStreams(cfg.MaxSubscriptions), pages: newPageCache()}
	if cfg.ModernOnly {
		c.revisions = modernRevisions
	}
	c.server = string(c.appendServer(nil))
	c.head = `"resultType":"complete","_meta":{` + c.server + `},`
	c.discovery = string(c.appendDiscovery(nil))
	return c, nil
}

func (c *Core) appendServer(b []byte) []byte {
	b = append(b, `"`+metaServer+`":{"name":`...)
	b = wire.AppendString(b, c.cfg.Name)
	b = appendMember(b, "title", c.cfg.Title)
	b = appendMember(b, "version", c.cfg.Version)
	return append(b, '}')
}

func (c *Core) appendDiscovery(b []byte) []byte {
	b = append(b, `"supportedVersions":`...)
	b = append(b, c.revisions...)
	b = append(b, `,"capabilities":{"completions":{},"resources":{"listChanged":true,"subscribe":true}`...)
	if c.cfg.Tools {
		b = append(b, `,"tools":{}`...)
	}
	b = append(b, '}')
	return appendMember(b, "instructions", c.cfg.Instructions)
}

// A Notify sends a notification on the stream of the request it belongs to, before the answer. It is called by one
// goroutine at a time; params are valid until it returns. After an error there are no more.
type Notify func(method string, params json.RawMessage) error

// An Outlet is how an answer leaves before it is whole. Its functions are called by one goroutine at a time.
type Outlet struct {
	// Notify sends what is to be told before the answer. Nil drops it.
	Notify Notify
	// Flush sends the next part of an answer that has outgrown the budget, after which what is returned is the rest of
	// it. It may block for as long as the client may take; part is valid until it returns. An error ends the request.
	// Nil keeps the whole answer, whatever its size.
	Flush func(part []byte) error
	// Abort has a Flush that is under way fail at once. It may be called by any goroutine. Nil does nothing.
	Abort func()
}

// A Call is one request, framed and routed by a front.
type Call struct {
	Method   string
	Params   json.RawMessage // nil when absent
	Revision Revision        // as negotiated, or as the request's _meta says
	Notify   Notify          // nil drops notifications
	Session  string          // as Message.Session
}

// Call answers one request with the JSON text of its result. That is counted as taken from the [inflight.Hold] of ctx,
// together with the copies that are made of it on its way to the client.
func (c *Core) Call(ctx context.Context, call *Call) (json.RawMessage, *Error) {
	r := &request{
		core: c, method: call.Method, modern: call.Revision.Modern(),
		structured: call.Revision.structured(), outlet: Outlet{Notify: call.Notify}, session: call.Session,
	}
	r.params.parse(call.Params)
	defer r.giveUp()
	if err := c.serve(ctx, r); err != nil {
		return nil, err
	}
	if n := copies * len(r.out); n > inflight.Free && !inflight.Of(ctx).Take(n) {
		return nil, c.fail(ctx, r, c.crowded())
	}
	return r.out, nil
}

// copies is how often the SDK of the older revisions copies a result on its way, about, the result itself included.
const copies = 6

// Answer appends the response to m, a request other than subscriptions/listen, to dst, which is the core's from then on.
// When that is an error, it is returned too, for fronts that have a status to choose, or have let the beginning of another
// answer go.
func (c *Core) Answer(ctx context.Context, dst []byte, m *Message, outlet Outlet) ([]byte, *Error) {
	r := &request{
		core: c, message: m, method: m.Method, params: m.params, modern: m.Revision == "",
		structured: m.Revision == "" || m.Revision.structured(), outlet: outlet, session: m.Session, links: m.Links,
		budget: c.cfg.Budget, kept: len(dst), out: appendResultHead(dst, m.ID),
	}
	err := c.check(r)
	if err == nil {
		err = c.serve(ctx, r)
	}
	r.count()
	if err != nil {
		return AppendError(r.out[:r.kept], m.ID, err), err
	}
	return append(r.out, '}'), nil
}

// check holds a request that stands alone to the rules of its revision; the others are held to those of their session.
func (c *Core) check(r *request) *Error {
	if !r.modern {
		return nil
	}
	return c.CheckModern(r.message)
}

// Buffer gives an empty buffer that holds most answers, for [Core.Answer]. When the answer has been written, it may be given
// back by [Core.Release].
func (c *Core) Buffer() []byte { return c.buffers.Take(wire.MinBuffer) }

// Release takes back what Answer returned, which must not be used after that. Until then it counts as in flight.
func (c *Core) Release(answer []byte) {
	c.cfg.InFlight.Release(counted(cap(answer)))
	c.buffers.Give(answer)
}

// InFlight is the budget that answers count against; nil for none.
func (c *Core) InFlight() *inflight.Budget { return c.cfg.InFlight }

// AfterResponse has the source do what need not delay a response. Fronts call it when they have written one.
func (c *Core) AfterResponse() {
	if s, ok := c.cfg.Source.(resource.AfterResponder); ok {
		s.AfterResponse()
	}
}

// EndSession is to be called by fronts when a session, as they name it in Message.Session, has ended.
func (c *Core) EndSession(session string) {
	if s, ok := c.cfg.Source.(resource.SessionEnder); ok {
		s.EndSession(session)
	}
}

// CheckModern holds a request to the rules of the modern revisions for its _meta: a revision this server offers, the
// client's capabilities, and a log level the specification has, if there is one.
func (c *Core) CheckModern(m *Message) *Error {
	if m.params.malformed != "" {
		return malformed("%s", m.params.malformed)
	}
	version, ok := m.Version()
	switch {
	case m.params.version == nil && m.Method == "initialize":
		// The client is of an older revision, and this may be all that it shows to somebody.
		asked, _ := unquote(m.params.protocolVersion)
		return c.UnsupportedVersion(asked)
	case !ok:
		return malformed("_meta has no %q; clients of revisions before %s begin with initialize", metaVersion, Revision20260728)
	case Revision(version) != Revision20260728:
		return unsupportedVersion(version, modernRevisions)
	case !isObject(m.params.capabilities):
		return malformed("_meta has no %q", metaCapabilities)
	case m.params.logLevel != nil && !isLogLevel(m.params.logLevel):
		return malformed("_meta[%q] is not a log level of the specification, such as %q", metaLogLevel, "warning")
	}
	return nil
}

// isLogLevel reports whether value is the JSON string of a LoggingLevel of the specification.
func isLogLevel(value []byte) bool {
	level, _ := unquote(value)
	switch level {
	case "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency":
		return true
	}
	return false
}

// malformed is the error for a request whose params or _meta break the rules of every method.
func malformed(format string, args ...any) *Error {
	e := invalidParams(format, args...)
	e.Malformed = true
	return e
}

// UnsupportedVersion is the error for a revision this server does not offer to a client that may use either form: _meta
// in each request, or a session that begins with initialize. It lists the revisions of both.
func (c *Core) UnsupportedVersion(requested string) *Error {
	return unsupportedVersion(requested, c.revisions)
}

// unsupportedVersion lists supported, a JSON array: the revisions that the client can use in the form it has chosen.
func unsupportedVersion(requested, supported string) *Error {
	data := append([]byte(`{"supported":`), supported...)
	data = append(data, `,"requested":`...)
	data = wire.AppendString(data, clip(requested, maxMethod))
	return &Error{Code: CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: append(data, '}')}
}

// A request is one call under way.
type request struct {
	// fixed at creation
	message *Message // nil for a Call
	method  string
	params  params
	modern  bool
	// structured says that the client's revision has structured results of tools.
	structured bool
	outlet     Outlet
	session    string
	links      bool
	kept       int // bytes of out that never leave: they were there before

	// owned by the goroutine that runs it
	budget int    // bytes that out may hold before it is flushed
	uri    string // asked for, once it is known
	out    []byte // the answer, after what was there before
	sent   bool   // a part of it has been flushed
	tight  int    // bytes that may be encoded before it is looked whether out is to be flushed; 0 for as many as a part
	held   int    // bytes of out that are counted as in flight

	core *Core

	// here so that a small request is one allocation
	asked    abi.Request
	contents contents
	progress progress
}

// ask is what every request to the source says.
func (r *request) ask() *abi.Request {
	r.asked = abi.Request{Meta: r.params.guestMeta(), Session: r.session}
	return &r.asked
}

func (r *request) askPage(cursor string) *abi.Request {
	req := r.ask()
	req.Cursor = cursor
	return req
}

// serve appends the result to r.out.
func (c *Core) serve(ctx context.Context, r *request) (failure *Error) {
	defer c.catch(ctx, r, &failure)
	if r.params.malformed != "" {
		return invalidParams("%s", r.params.malformed)
	}
	answer := c.method(r)
	if answer == nil {
		return &Error{Code: CodeMethodNotFound, Message: "Method not found: " + clip(r.method, maxMethod)}
	}
	switch err := answer(ctx, r).(type) {
	case nil:
		return nil
	case *Error:
		return err
	default:
		return c.fail(ctx, r, err)
	}
}

// catch, deferred, makes a failure of a panic: a mistake of ours must not end the process, with everybody's requests.
func (c *Core) catch(ctx context.Context, r *request, failure **Error) {
	if p := recover(); p != nil {
		*failure = c.fail(ctx, r, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}

// method gives what answers the method of r; nil when it is not offered.
func (c *Core) method(r *request) func(context.Context, *request) error {
	switch r.method {
	case "resources/list":
		return c.list
	case "resources/templates/list":
		return c.templates
	case "resources/read":
		return c.read
	case "completion/complete":
		return c.complete
	case "server/discover":
		if r.modern {
			return c.discover
		}
	case "tools/list":
		if c.cfg.Tools {
			return c.toolsList
		}
	case "tools/call":
		if c.cfg.Tools {
			return c.toolsCall
		}
	}
	return nil
}

func (c *Core) discover(_ context.Context, r *request) error {
	c.begin(r)
	r.out = append(r.out, c.discovery...)
	r.endCacheable(staticTTL, abi.CachePublic)
	return nil
}

// begin opens the result. At least one member follows.
func (c *Core) begin(r *request) {
	r.out = append(r.out, '{')
	if r.modern {
		r.out = append(r.out, c.head...)
	}
}

// end closes the result.
func (r *request) end() { r.out = append(r.out, '}') }

// endCacheable closes the result after saying for how long and for whom it may be kept.
func (r *request) endCacheable(ttlMillis uint64, scope abi.CacheScope) {
	if r.modern {
		r.out = append(r.out, `,"ttlMs":`...)
		r.out = strconv.AppendUint(r.out, min(ttlMillis, maxInteger), 10)
		r.out = append(r.out, `,"cacheScope":"`...)
		if scope == abi.CachePublic {
			r.out = append(r.out, `public"`...)
		} else {
			r.out = append(r.out, `private"`...)
		}
	}
	r.end()
}
