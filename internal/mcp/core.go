package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync/atomic"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/wire"
)

const (
	defaultMaxSubscriptions = 1024
	defaultBudget           = 4 << 20 // bytes
)

// staticTTL is how long clients may keep what does not change while the process runs, in milliseconds.
const staticTTL = 300_000

// Config is what a Core needs. Source, Name and Version are required.
type Config struct {
	Source           Source
	Name             string
	Title            string
	Version          string
	Instructions     string       // for the model; empty for none
	Tools            bool         // also offer the resources as the tools list_resources and read_resource
	ModernOnly       bool         // no front serves older revisions: they are not offered
	MaxSubscriptions int          // streams of subscriptions/listen at once; 0 means 1,024
	Budget           int          // bytes of an answer that are kept while it grows; 0 means 4 MiB
	Logger           *slog.Logger // nil discards
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
	if c.MaxSubscriptions < 0 || c.Budget < 0 {
		errs = append(errs, errors.New("mcp: MaxSubscriptions or Budget is negative"))
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

	listening atomic.Int64 // streams of subscriptions/listen
	buffers   wire.Buffers
	pages     pages
}

// New makes a Core.
func New(cfg Config) (*Core, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	c := &Core{cfg: cfg, revisions: allRevisions}
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
}

// A Call is one request, framed and routed by a front.
type Call struct {
	Method   string
	Params   json.RawMessage // nil when absent
	Revision Revision        // as negotiated, or as the request's _meta says
	Notify   Notify          // nil drops notifications
	Session  string          // as Message.Session
}

// Call answers one request with the JSON text of its result.
func (c *Core) Call(ctx context.Context, call *Call) (json.RawMessage, *Error) {
	r := &request{
		buffers: &c.buffers, method: call.Method, modern: call.Revision.Modern(), outlet: Outlet{Notify: call.Notify}, session: call.Session,
	}
	r.params.parse(call.Params)
	if err := c.serve(ctx, r); err != nil {
		return nil, err
	}
	return r.out, nil
}

// Answer appends the response to m, a request other than subscriptions/listen, to dst, which is the core's from then on.
// When that is an error, it is returned too, for fronts that have a status to choose, or have let the beginning of another
// answer go.
func (c *Core) Answer(ctx context.Context, dst []byte, m *Message, outlet Outlet) ([]byte, *Error) {
	r := &request{
		buffers: &c.buffers, message: m, method: m.Method, params: m.params, modern: m.Revision == "",
		outlet: outlet, session: m.Session, links: m.Links,
		budget: c.cfg.Budget, kept: len(dst), out: appendResultHead(dst, m.ID),
	}
	err := c.check(r)
	if err == nil {
		err = c.serve(ctx, r)
	}
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

// Release takes back what Answer returned, which nobody may use after that.
func (c *Core) Release(answer []byte) { c.buffers.Give(answer) }

// Settle is to be called by fronts when an answer has been written: what can wait until then is done now.
func (c *Core) Settle() {
	if s, ok := c.cfg.Source.(Settler); ok {
		s.Settle()
	}
}

// EndSession is to be called by fronts when a session, as they name it in Message.Session, has ended.
func (c *Core) EndSession(session string) {
	if s, ok := c.cfg.Source.(SessionEnder); ok {
		s.EndSession(session)
	}
}

// CheckModern holds a request to the rules of the modern revisions for its _meta: a revision this server offers, and
// the client's capabilities.
func (c *Core) CheckModern(m *Message) *Error {
	if m.params.malformed != "" {
		return invalidParams("%s", m.params.malformed)
	}
	version, ok := m.Version()
	switch {
	case m.params.version == nil && m.Method == "initialize":
		// The client is of an older revision, and this may be all that it shows to somebody.
		asked, _ := unquote(m.params.protocolVersion)
		return c.UnsupportedVersion(asked)
	case !ok:
		return invalidParams("_meta has no %q; clients of revisions before %s begin with initialize", metaVersion, Revision20260728)
	case Revision(version) != Revision20260728:
		return c.UnsupportedVersion(version)
	case !isObject(m.params.capabilities):
		return invalidParams("_meta has no %q", metaCapabilities)
	}
	return nil
}

// UnsupportedVersion is the error for a revision this server does not offer.
func (c *Core) UnsupportedVersion(requested string) *Error {
	data := append([]byte(`{"supported":`), c.revisions...)
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
	outlet  Outlet
	session string
	links   bool
	kept    int // bytes of out that never leave: they were there before

	// owned by the goroutine that runs it
	budget int    // bytes that out may hold before it is flushed
	uri    string // asked for, once it is known
	out    []byte // the answer, after what was there before

	buffers *wire.Buffers // what out grows with

	// here so that a small request is one allocation
	asked    abi.Request
	contents contents
	progress progress
}

// part is how much of a long answer leaves at once, in bytes: little enough to stay in the processor's cache.
const part = 256 << 10

// full reports whether the answer has outgrown the budget and may leave.
func (r *request) full() bool { return r.outlet.Flush != nil && len(r.out)-r.kept >= r.budget }

// spill lets go what there is of the answer. From then on it leaves a part at a time.
func (r *request) spill() error {
	err := r.outlet.Flush(r.out[r.kept:])
	r.out, r.budget = r.out[:r.kept], part
	if err != nil {
		return abi.Errorf(abi.CodeCancelled, "the client does not take the answer").Because(err)
	}
	return nil
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
