package runtime

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/guard"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
	"github.com/wasmres/wasmres/runtime/internal/mcp/stdio"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/ratelimit"
	"github.com/wasmres/wasmres/runtime/resource"
	"github.com/wasmres/wasmres/runtime/trace"
)

// MinBuffer is the smallest ServerOptions.Buffer, in bytes.
const MinBuffer = 8 << 20

// ServerOptions say what clients are told and how much they may use. The zero value is usable.
type ServerOptions struct {
	// Name, Title, Version and Instructions are what clients are told about the server. Where Name is empty, all four are
	// those of the source, if it is [resource.Identified].
	Name, Title, Version, Instructions string
	// Tools offers the resources as tools too, for clients whose models cannot read resources.
	Tools bool

	// AllowedHosts are the names by which clients may reach the server over HTTP, as in "mcp.example.com". The address on
	// which a connection arrives is always allowed, and on a loopback address localhost, 127.0.0.1 and [::1].
	AllowedHosts []string
	// AllowedOrigins are the origins of web pages that may call the server, as in "https://app.example.com", beside the
	// server's own.
	AllowedOrigins []string

	MaxSubscriptions      int           // streams of changes at once; 0 means 1,024
	MaxSubscribedBytes    int           // of the URIs of all subscriptions, each counted twice; 0 means 128 MiB
	MaxSessions           int           // HTTP sessions at once of revisions before 2026-07-28; 0 means 10,000
	MaxSessionsPerAddress int           // of these, for one client address; 0 means 1,000
	SessionIdle           time.Duration // for which such a session may have no request; 0 means 30 minutes
	MaxConnections        int           // HTTP connections at once, for Serve; 0 means 10,000

	// Auth tells who sends a request over HTTP. It hides from a client what the client's identity does not permit, and gives
	// providers the principal. Nil serves every client. ServeStdio has no authentication, and refuses a server with Auth.
	Auth auth.Authenticator
	// Metadata answers requests for the metadata of the server as a resource of OAuth (RFC 9728), with Serve: at
	// /.well-known/oauth-protected-resource/mcp. Clients read it without a credential. Nil is nothing there.
	Metadata http.Handler
	// TLS makes Serve speak HTTPS: HTTP/2, and HTTP/1.1 without the fast path. Nil is HTTP.
	TLS *tls.Config
	// RatePerSecond is how many requests a second each client may send over HTTP, known by its principal, or else by its
	// address; 0 means any number. Burst is how many of them at once; 0 means those of one second.
	RatePerSecond float64
	Burst         int
	// Admission bounds what clients use over HTTP. It replaces RatePerSecond and Burst, which must be 0. Nil does not.
	Admission admission.Gate
	// AccessLog gets an entry for each request over HTTP, as [accesslog.Log.Add] does. It must not block. Nil is none.
	AccessLog func(accesslog.Entry)

	// Buffer is how many bytes all answers may take that clients have not read yet, each counted twice; at least
	// MinBuffer. 0 means 256 MiB.
	Buffer int64
	// QueueTimeout is how long a request waits for room in Buffer, before it is refused. 0 means 2 s.
	QueueTimeout time.Duration
	// MaxSlowReaders is how many clients may keep a provider waiting at once for more than a moment. 0 means 2 for each
	// processor.
	MaxSlowReaders int

	// Tracer traces requests, but not those of Server.Call. Nil traces none.
	Tracer trace.Tracer

	Logger *slog.Logger // nil discards
}

// A Server speaks MCP for a source: over HTTP with ServeHTTP or Serve, on a pair of streams with ServeStdio, and in this
// process with Call. It is safe for concurrent use. Close releases it.
type Server struct {
	// fixed at creation
	opts     ServerOptions
	core     *mcp.Core
	direct   *mcp.Core // for Call, whose answers no client keeps in a buffer
	sessions *legacy.Front
	handler  *streamable.Handler
	end      func() error // ends the sessions; works once
	close    func() error // works once
}

// NewServer makes a Server for a source, such as [Provider.Source]. A nil opts takes the defaults. NewServer fails when
// neither opts nor the source has a name.
func NewServer(source resource.Source, opts *ServerOptions) (*Server, error) {
	s := &Server{}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.identify(source)
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if err := s.connect(source); err != nil {
		return nil, fmt.Errorf("make a server: %w", err)
	}
	s.end = sync.OnceValue(s.sessions.Close)
	s.close = sync.OnceValue(s.release)
	return s, nil
}

// identify fills in what clients are told from the source.
func (o *ServerOptions) identify(source resource.Source) {
	identified, ok := source.(resource.Identified)
	if o.Name != "" || !ok {
		o.Version = cmp.Or(o.Version, "0")
		return
	}
	is := identified.Identity()
	o.Name, o.Title, o.Version, o.Instructions = is.Name, is.Title, cmp.Or(o.Version, is.Version), is.Instructions
}

// connect makes the core, what serves the older revisions, and the HTTP handler, in the order in which they need each
// other.
func (s *Server) connect(source resource.Source) (err error) {
	o := &s.opts
	budget, uris := inflight.New(o.Buffer), mcp.NewURIs(o.MaxSubscribedBytes)
	gate, err := o.admission()
	if err != nil {
		return err
	}
	core := mcp.Config{
		Source: source, Name: o.Name, Title: o.Title, Version: o.Version, Instructions: o.Instructions, Tools: o.Tools,
		MaxSubscriptions: o.MaxSubscriptions, MaxWait: o.QueueTimeout, SlowReaders: o.MaxSlowReaders,
	}
	if s.direct, err = mcp.New(core); err != nil {
		return err
	}
	var lacks func(context.Context, auth.Action, string) []string
	if o.Auth != nil {
		guarded := guard.New(source)
		source, lacks = guarded, guarded.Lacks
	}
	core.Source, core.InFlight, core.URIs, core.AccessLog, core.Tracer, core.Logger = source, budget, uris, o.AccessLog, o.Tracer, o.Logger
	if s.core, err = mcp.New(core); err != nil {
		return err
	}
	s.sessions, err = legacy.New(legacy.Config{
		Core: s.core, Source: source, Name: o.Name, Title: o.Title, Version: o.Version, Instructions: o.Instructions,
		Tools: o.Tools, InFlight: budget, URIs: uris, AccessLog: o.AccessLog, Logger: o.Logger,
		MaxSessions: o.MaxSessions, MaxPerClient: o.MaxSessionsPerAddress, Idle: o.SessionIdle,
	})
	if err != nil {
		return err
	}
	s.handler, err = streamable.New(streamable.Config{
		Core: s.core, Legacy: s.sessions, AllowedHosts: o.AllowedHosts, AllowedOrigins: o.AllowedOrigins,
		Auth: o.Auth, Metadata: o.Metadata, Lacks: lacks, Admission: gate, AccessLog: o.AccessLog, Logger: o.Logger,
	})
	return err
}

// admission returns what bounds the clients; nil for nothing.
func (o *ServerOptions) admission() (admission.Gate, error) {
	rated := o.RatePerSecond != 0 || o.Burst != 0
	switch {
	case rated && o.Admission != nil:
		return nil, errors.New("RatePerSecond and Burst have no effect beside Admission: remove them")
	case rated:
		return ratelimit.New(o.RatePerSecond, o.Burst)
	}
	return o.Admission, nil
}

// ServeHTTP serves Streamable HTTP, on any path where the caller mounts the Server.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeEndpoint(w, r) }

// ServeStdio speaks MCP with one client until in or ctx ends, and then closes the Server.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.opts.Auth != nil {
		return errors.New("serve on streams: their client cannot be authenticated: make the server without Auth")
	}
	return stdio.Serve(ctx, stdio.Config{Core: s.core, Legacy: connector{s.sessions}, In: in, Out: out, Logger: s.opts.Logger})
}

// shutdownGrace is how long requests under way may still take.
const shutdownGrace = 5 * time.Second

// Serve serves HTTP on l, with MCP at /mcp, until ctx ends. Then it closes l and the Server, and returns nil: subscriptions
// end with their result, and requests under way have five seconds. Without TLS, the Server answers small requests before
// net/http parses them.
func (s *Server) Serve(ctx context.Context, l net.Listener) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	o := TransportOptions{TLS: s.opts.TLS, MaxConnections: s.opts.MaxConnections, Logger: s.opts.Logger}
	t, err := newTransport(s.handler, o)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return serveUntil(ctx, l, t, s.end)
}

// EndStreams ends the subscriptions that are open, with their result. It does not wait for that, and new ones can begin.
func (s *Server) EndStreams() { s.handler.EndStreams() }

// A transport serves the handler on a listener.
type transport interface {
	Serve(l net.Listener) error
	Leave()                   // accepts no more, and empties the connections
	Wait(ctx context.Context) // until they are empty
	Shutdown(ctx context.Context) error
}

// Open counts the sessions and the streams of changes of clients over HTTP that are open.
func (s *Server) Open() int { return s.sessions.Len() + s.handler.Streams() }

// Streams counts the streams of changes over HTTP that are open: those of subscriptions/listen, and those of sessions.
func (s *Server) Streams() (listening, ofSessions int) {
	listening = s.handler.Streams()
	return listening, max(s.core.Streams()-listening, 0)
}

// A Session is an open session over HTTP of a client of a revision before 2026-07-28. It is of no use as a credential.
type Session struct {
	ID            string // its beginning, as lines of the access log have it
	Revision      string
	ClientName    string // as the client says, shortened, and escaped for a person, as ClientVersion
	ClientVersion string
	Principal     string // name of the client that has opened it; empty without authentication
	Began         time.Time
	LastRequest   time.Time // when its last request ended; Began before that
	Streams       int       // open streams of changes
}

// Sessions returns the open sessions, in no order.
func (s *Server) Sessions() []Session {
	open := s.sessions.Sessions()
	all := make([]Session, len(open))
	for i := range open {
		all[i] = Session(open[i])
	}
	return all
}

// Call answers one request as a client of revision 2025-11-25 receives it. It also answers resources/directory/read, skills/list
// and skills/get, which that revision does not have, in the same form. params is marshalled as JSON. A failure is an
// [*RPCError], whose chain has the provider's [abi.Error] if the provider failed.
func (s *Server) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("call %s: encode params: %w", method, err)
	}
	defer s.direct.AfterResponse()
	result, failed := s.direct.Call(ctx, &mcp.Call{Method: method, Params: text, Revision: mcp.Revision20251125, Extensions: true})
	if failed != nil {
		return nil, &RPCError{Code: failed.Code, Message: failed.Message, Data: failed.Data, cause: failed.Unwrap()}
	}
	return result, nil
}

// Close ends streams and sessions. Requests that begin later are refused. It leaves the source open, waits for sessions no
// longer than a second, and is idempotent.
func (s *Server) Close() error { return s.close() }

func (s *Server) release() error {
	return errors.Join(
		within(closeTime, "streams", s.handler.Close),
		within(closeTime, "sessions", s.end),
	)
}

// An RPCError is the error of a JSON-RPC response.
type RPCError struct {
	Code    int
	Message string
	Data    json.RawMessage // nil for none
	cause   error
}

// Error returns the message.
func (e *RPCError) Error() string { return e.Message }

// Unwrap returns the failure of the source; nil when the request was wrong.
func (e *RPCError) Unwrap() error { return e.cause }

// A connector opens sessions of the older revisions for the stdio transport.
type connector struct{ front *legacy.Front }

// Connect implements [stdio.Legacy].
func (c connector) Connect(ctx context.Context, send func(line []byte) error) (stdio.LegacySession, error) {
	return c.front.Connect(ctx, send)
}
