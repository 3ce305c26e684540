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
	"github.com/wasmres/wasmres/internal/textenc"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/resource"
	"github.com/wasmres/wasmres/runtime/trace"
)

const (
	defaultMaxSubscriptions = 1024
	defaultBudget           = 4 << 20 // bytes
	defaultMaxWait          = 2 * time.Second
)

// staticTTL is how long clients may cache results that do not change while the process runs, in milliseconds.
const staticTTL = 300_000

// Config is what a Core needs. Source, Name and Version are required.
type Config struct {
	Source           resource.Source
	Name             string
	Title            string
	Version          string
	Instructions     string // for the model; empty for none
	Tools            bool   // also offer the resources as the tools list_resources and read_resource
	ModernOnly       bool   // offer no older revisions, since no front serves them
	MaxSubscriptions int    // streams of changes at once, those of sessions included; 0 means 1,024
	Budget           int    // bytes of an answer that are buffered before a part is sent; 0 means 4 MiB
	URIs             *URIs  // of all subscriptions; nil stores nothing and has no bound
	// InFlight bounds the memory of all answers that have not been written yet; nil for no bound.
	InFlight *inflight.Budget
	MaxWait  time.Duration // longest time a request waits for memory of InFlight; 0 means 2 s
	// SlowReaders is how many clients may keep a source waiting for longer than 20 ms at the same time; 0 means 2 for
	// each processor.
	SlowReaders int
	AccessLog   AccessLog    // nil for none
	Tracer      trace.Tracer // nil for none
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
	if c.MaxSubscriptions < 0 || c.Budget < 0 || c.MaxWait < 0 || c.SlowReaders < 0 {
		errs = append(errs, errors.New("mcp: MaxSubscriptions, Budget, MaxWait or SlowReaders is negative"))
	}
	if c.SlowReaders == 0 {
		c.SlowReaders = 2 * runtime.GOMAXPROCS(0)
	}
	if c.MaxWait == 0 {
		c.MaxWait = defaultMaxWait
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
	revisions string             // offered revisions, as a JSON array
	server    string             // members of _meta with this server's name
	head      string             // members every modern result begins with
	traceable resource.Traceable // the source, if it says which code answers; nil otherwise
	discovery [2]string          // members of the result of server/discover, without and with the extension for skills

	streams  *streams
	slow     atomic.Int64 // clients that have kept a source waiting for longer than slowAfter
	buffers  textenc.Buffers
	pages    pageCache
	types    typeFilter
	pageSize atomic.Int64 // bytes that the last page of a list took before it was encoded
}

// New makes a Core.
func New(cfg Config) (*Core, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	c := &Core{cfg: cfg, revisions: allRevisions, streams: newStreams(cfg.MaxSubscriptions), pages: newPageCache(), types: typeFilter{logger: cfg.Logger}}
	if cfg.ModernOnly {
		c.revisions = modernRevisions
	}
	c.server = string(c.appendServer(nil))
	c.head = `"resultType":"complete","_meta":{` + c.server + `},`
	c.traceable, _ = cfg.Source.(resource.Traceable)
	c.discovery = [2]string{string(c.appendDiscovery(nil, "")), string(c.appendDiscovery(nil, skillsCapability))}
	return c, nil
}

func (c *Core) appendServer(b []byte) []byte {
	b = append(b, `"`+metaServer+`":{"name":`...)
	b = textenc.AppendString(b, c.cfg.Name)
	b = appendMember(b, "title", c.cfg.Title)
	b = appendMember(b, "version", c.cfg.Version)
	return append(b, '}')
}

// appendDiscovery appends what server/discover answers; extensions is a further member of the capabilities.
func (c *Core) appendDiscovery(b []byte, extensions string) []byte {
	b = append(b, `"supportedVersions":`...)
	b = append(b, c.revisions...)
	b = append(b, `,"capabilities":{"completions":{},"resources":{"listChanged":true,"subscribe":true}`...)
	if c.cfg.Tools {
		b = append(b, `,"tools":{}`...)
	}
	b = append(b, extensions...)
	b = append(b, '}')
	return appendMember(b, "instructions", c.cfg.Instructions)
}

// A Notify sends a notification on the stream of its request, before the answer. One goroutine at a time calls it;
// params are valid until it returns. After an error, the core calls it no more.
type Notify func(method string, params json.RawMessage) error

// A ResponseStream sends parts of an answer before the answer is complete. One goroutine at a time calls Notify and
// Flush.
type ResponseStream struct {
	// Notify sends notifications before the answer; nil discards them.
	Notify Notify
	// Flush sends the next part of an answer that is larger than the budget. The core then returns the rest of the answer
	// only. Flush may block for as long as the client may take; part is valid until it returns. An error ends the
	// request. If Flush is nil, the core buffers the whole answer, whatever its size.
	Flush func(part []byte) error
	// Abort makes a running Flush fail at once. Any goroutine may call it. Nil does nothing.
	Abort func()
}

// A Call is one request, framed and routed by a front.
type Call struct {
	Method   string
	Params   json.RawMessage // nil when absent
	Revision Revision        // as negotiated, or as the request's _meta says
	Notify   Notify          // nil drops notifications
	Session  string          // as Message.Session
	Trace    trace.Parent    // as Message.Trace
	// Extensions offers the methods of extensions in every revision. Their results have the form of Revision.
	Extensions bool
}

// Call answers one request with the JSON text of its result. The [inflight.Hold] of ctx is charged for the result and
// for the copies of it in the SDK of the older revisions.
func (c *Core) Call(ctx context.Context, call *Call) (json.RawMessage, *Error) {
	r := &request{
		core: c, method: call.Method, params: new(params), modern: call.Revision.Modern(),
		structured: call.Revision.structured(), audio: call.Revision.audio(),
		extensions: call.Revision.Modern() || call.Extensions,
		stream:     ResponseStream{Notify: call.Notify}, session: call.Session,
	}
	r.params.parse(call.Params)
	ctx, r.access = c.beginAccess(ctx, r, call.Revision, call.Trace)
	defer r.release()
	failure := c.serve(ctx, r)
	if n := copies * len(r.out); failure == nil && n > inflight.Free && !inflight.Of(ctx).Take(n) {
		failure = c.fail(ctx, r, c.busyError())
	}
	c.recordAccess(ctx, r, len(r.out), failure)
	if failure != nil {
		return nil, failure
	}
	return r.out, nil
}

// copies is roughly how many copies of a result the SDK of the older revisions holds at once, the result included.
const copies = 6

// Answer appends the response to m, a request other than subscriptions/listen, to dst, which then belongs to the core. If
// the response is an error, Answer returns that too: a front may have to choose a status, or may have sent the beginning
// of another answer.
func (c *Core) Answer(ctx context.Context, dst []byte, m *Message, outlet ResponseStream) ([]byte, *Error) {
	r := &request{
		core: c, message: m, method: m.Method, params: &m.params, modern: m.Revision == "", extensions: m.Revision == "",
		structured: m.Revision == "" || m.Revision.structured(), audio: m.Revision == "" || m.Revision.audio(),
		stream: outlet, session: m.Session, links: m.DownloadLinks,
		budget: c.cfg.Budget, prefixLen: len(dst), out: appendResultHead(dst, m.ID),
	}
	revision := m.Revision
	if r.modern {
		revision = Revision20260728
	}
	ctx, r.access = c.beginAccess(ctx, r, revision, m.Trace)
	err := c.check(r)
	if err == nil {
		err = c.serve(ctx, r)
	}
	r.count()
	var answer []byte
	if err != nil {
		answer = AppendError(r.out[:r.prefixLen], m.ID, err)
	} else {
		answer = append(r.out, '}')
	}
	c.recordAccess(ctx, r, len(answer)-r.prefixLen, err)
	return answer, err
}

// check applies the rules of the modern revision to requests of that revision. Fronts check those of sessions.
func (c *Core) check(r *request) *Error {
	if !r.modern {
		return nil
	}
	return c.CheckModern(r.message)
}

// Buffer returns an empty buffer that holds most answers, for [Core.Answer]. The caller may return the answer by
// [Core.Release] when it has been written.
func (c *Core) Buffer() []byte { return c.buffers.Take(textenc.MinBuffer) }

// Release takes back an answer of [Core.Answer], and ends its counting as in flight. The caller must not use it after
// that.
func (c *Core) Release(answer []byte) {
	c.cfg.InFlight.Release(countedBytes(cap(answer)))
	c.buffers.Give(answer)
}

// Streams counts the open streams of changes, those of sessions included.
func (c *Core) Streams() int { return c.streams.len() }

// InFlight returns the budget of answers in flight; nil for none.
func (c *Core) InFlight() *inflight.Budget { return c.cfg.InFlight }

// AfterResponse lets the source do the work that must not delay a response. Fronts call it after writing one.
func (c *Core) AfterResponse() {
	if s, ok := c.cfg.Source.(resource.AfterResponder); ok {
		s.AfterResponse()
	}
}

// EndSession tells the source that a session has ended. Fronts call it with the name in Message.Session.
func (c *Core) EndSession(session string) {
	if s, ok := c.cfg.Source.(resource.SessionEnder); ok {
		s.EndSession(session)
	}
}

// CheckModern checks the _meta of a request by the rules of the modern revisions: it must have a revision that this server
// offers and the client's capabilities; a log level, if any, must be one of the specification.
func (c *Core) CheckModern(m *Message) *Error {
	if m.params.malformed != "" {
		return malformed("%s", m.params.malformed)
	}
	version, ok := m.Version()
	switch {
	case m.params.version == nil && m.Method == "initialize":
		// a client of an older revision may show its user only this error
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

// malformed returns the error for a request whose params or _meta break the rules of every method.
func malformed(format string, args ...any) *Error {
	e := invalidParams(format, args...)
	e.Malformed = true
	return e
}

// UnsupportedVersion returns the error for a revision that this server does not offer. It lists the revisions of both
// forms, in _meta and with initialize, since the client may use either.
func (c *Core) UnsupportedVersion(requested string) *Error {
	return unsupportedVersion(requested, c.revisions)
}

// unsupportedVersion is UnsupportedVersion with a list of its own, a JSON array.
func unsupportedVersion(requested, supported string) *Error {
	data := append([]byte(`{"supported":`), supported...)
	data = append(data, `,"requested":`...)
	data = textenc.AppendString(data, truncate(requested, maxMethod))
	return &Error{Code: CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: append(data, '}')}
}

// A request is one call under way.
type request struct {
	// fixed at creation
	message    *Message // nil for a Call
	method     string
	params     *params
	modern     bool
	extensions bool // whether it may use methods of extensions
	structured bool // the client's revision has structured results of tools
	audio      bool // the client's revision has audio in results of tools
	stream     ResponseStream
	session    string
	links      bool
	prefixLen  int // leading bytes of out that belong to the caller of Answer and are never sent

	// owned by the goroutine that runs it
	budget   int    // bytes that out may hold before it is flushed
	uri      string // requested; empty until it is known
	out      []byte // the prefix, then the answer
	sent     bool   // a part of the answer has been flushed
	maxChunk int    // bytes to encode between two checks whether to flush; 0 for partSize
	counted  int    // bytes of out that count as in flight
	access   *access

	core *Core

	// in the struct so that a small request is one allocation
	sourceReq resource.Request
	contents  contentEncoder
	progress  progress
}

// sourceRequest returns the request to the source with the fields that every method sets.
func (r *request) sourceRequest() *resource.Request {
	r.sourceReq = resource.Request{Meta: r.params.guestMeta(), Session: r.session}
	return &r.sourceReq
}

func (r *request) pageRequest(cursor string) *resource.Request {
	req := r.sourceRequest()
	req.Cursor = cursor
	return req
}

// serve appends the result to r.out.
func (c *Core) serve(ctx context.Context, r *request) (failure *Error) {
	defer c.recoverPanic(ctx, r, &failure)
	if r.params.malformed != "" {
		return invalidParams("%s", r.params.malformed)
	}
	answer := c.method(r)
	if answer == nil {
		return &Error{Code: CodeMethodNotFound, Message: "Method not found: " + truncate(r.method, maxMethod)}
	}
	switch err := answer(c, ctx, r).(type) {
	case nil:
		return nil
	case *Error:
		return err
	default:
		return c.fail(ctx, r, err)
	}
}

// recoverPanic, deferred, turns a panic into a failure of the request: the process and its other requests go on.
func (c *Core) recoverPanic(ctx context.Context, r *request, failure **Error) {
	if p := recover(); p != nil {
		*failure = c.fail(ctx, r, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}

// A method answers the requests of one method. It is a method expression of Core, which needs no allocation.
type method func(*Core, context.Context, *request) error

// method returns what answers the method of r; nil if the server does not offer the method.
func (c *Core) method(r *request) method {
	switch r.method {
	case "resources/list":
		return (*Core).list
	case "resources/templates/list":
		return (*Core).templates
	case "resources/read":
		return (*Core).read
	case "completion/complete":
		return (*Core).complete
	case methodDirectory, methodSkills, methodSkill:
		return c.skillMethod(r)
	case "server/discover":
		if r.modern {
			return (*Core).discover
		}
	case "tools/list":
		return (*Core).toolsList
	case "tools/call":
		if c.cfg.Tools {
			return (*Core).toolsCall
		}
	}
	return nil
}

func (c *Core) discover(_ context.Context, r *request) error {
	c.begin(r)
	discovery := &c.discovery[0]
	if c.hasSkills(r) {
		discovery = &c.discovery[1]
	}
	r.out = append(r.out, *discovery...)
	r.endCacheable(staticTTL, abi.CachePublic)
	return nil
}

// begin opens the result. The caller appends at least one member.
func (c *Core) begin(r *request) {
	r.out = append(r.out, '{')
	if r.modern {
		r.out = append(r.out, c.head...)
	}
}

// end closes the result.
func (r *request) end() { r.out = append(r.out, '}') }

// endCacheable closes the result, and sets how long and by which clients it may be cached.
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
