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

const defaultMaxSubscriptions = 1024

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
	if c.MaxSubscriptions < 0 {
		errs = append(errs, errors.New("mcp: MaxSubscriptions is negative"))
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
	r := &request{method: call.Method, modern: call.Revision.Modern(), notify: call.Notify, session: call.Session}
	r.params.parse(call.Params)
	if err := c.serve(ctx, r); err != nil {
		return nil, err
	}
	return r.out, nil
}

// Answer appends the response to m, a request of a modern revision other than subscriptions/listen, to dst. When that is
// an error, it is returned too, for fronts that have a status to choose.
func (c *Core) Answer(ctx context.Context, dst []byte, m *Message, notify Notify) ([]byte, *Error) {
	err := c.CheckModern(m)
	if err == nil {
		r := &request{
			method: m.Method, params: m.params, modern: true, notify: notify, session: m.Session,
			out: appendResultHead(dst, m.ID),
		}
		if err = c.serve(ctx, r); err == nil {
			return append(r.out, '}'), nil
		}
	}
	return AppendError(dst, m.ID, err), err
}

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
	method  string
	params  params
	modern  bool
	notify  Notify
	session string

	// owned by the goroutine that runs it
	uri string // asked for, once it is known
	out []byte // the result, after what was there before
}

// ask is what every request to the source says.
func (r *request) ask() *abi.Request {
	return &abi.Request{Meta: r.params.guestMeta(), Session: r.session}
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
