package legacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/throttle"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Defaults of a Config.
const (
	defaultIdle         = 30 * time.Minute
	defaultMaxSessions  = 10_000
	defaultMaxPerClient = 1000
	defaultMaxBody      = 4 << 20 // bytes
)

// Causes of the end of a session.
var (
	errIdle     = errors.New("the session was idle for too long")
	errReplaced = errors.New("the session was ended to make room for another")
	errEnded    = errors.New("the session has ended")
)

// A Caller answers the requests of sessions, is called after each response and at the end of each session, and has
// places for streams of changes, which all revisions share. [mcp.Core] is one.
type Caller interface {
	Call(ctx context.Context, call *mcp.Call) (json.RawMessage, *mcp.Error)
	AfterResponse()
	EndSession(session string)
	OpenStream(ctx context.Context, client string, end func()) (leave func(), failure *mcp.Error)
}

// A Subscriber reports changes; every [resource.Source] is one.
type Subscriber interface {
	Subscribe(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) (accepted []abi.URI, err error)
}

// Config configures a Front. Core, Source, Name and Version are required.
type Config struct {
	Core   Caller
	Source Subscriber

	Name         string
	Title        string
	Version      string
	Instructions string // for the model; empty for none
	Tools        bool   // as in [mcp.Config]

	Idle             time.Duration // after which an HTTP session without requests ends; 0 means 30 minutes
	MaxSessions      int           // HTTP sessions at once; 0 means 10,000
	MaxPerClient     int           // HTTP sessions at once of one client, as [mcp.ClientOf] names it; 0 means 1,000
	MaxSubscriptions int           // resources one session may be subscribed to; 0 means 1,024
	MaxBody          int64         // bytes of an HTTP request; 0 means 4 MiB

	// InFlight bounds the memory of answers that have not been written yet; nil for no bound.
	InFlight *inflight.Budget
	// URIs bounds the memory of subscribed URIs, which all subscriptions share; nil for no bound.
	URIs *mcp.URIs

	AccessLog mcp.AccessLog // gets subscriptions to resources; the Core's gets the other requests; nil for none
	Logger    *slog.Logger  // nil discards
}

func (c *Config) fill() error {
	var missing []error
	for _, f := range []struct {
		name  string
		unset bool
	}{{"Core", c.Core == nil}, {"Source", c.Source == nil}, {"Name", c.Name == ""}, {"Version", c.Version == ""}} {
		if f.unset {
			missing = append(missing, fmt.Errorf("legacy: %s is required", f.name))
		}
	}
	if c.Idle < 0 || c.MaxSessions < 0 || c.MaxPerClient < 0 || c.MaxSubscriptions < 0 || c.MaxBody < 0 {
		missing = append(missing, errors.New("legacy: Idle, MaxSessions, MaxPerClient, MaxSubscriptions or MaxBody is negative"))
	}
	if c.Idle == 0 {
		c.Idle = defaultIdle
	}
	if c.MaxSessions == 0 {
		c.MaxSessions = defaultMaxSessions
	}
	if c.MaxPerClient == 0 {
		c.MaxPerClient = defaultMaxPerClient
	}
	if c.MaxSubscriptions == 0 {
		c.MaxSubscriptions = mcp.MaxWatched
	}
	if c.MaxBody == 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return errors.Join(missing...)
}

// A Front serves the legacy revisions over HTTP and stdio. It is safe for concurrent use.
type Front struct {
	// fixed at creation
	cfg    Config
	server *sdk.Server
	http   http.Handler      // the SDK's
	send   sdk.MethodHandler // sends one notification to one session

	failed *throttle.Log // failures that each client can cause again and again

	leases sync.Map       // of *lease, by name
	leased atomic.Uint64  // leases that were made
	ended  *inflight.Hold // of messages whose lease has ended

	running sync.WaitGroup // goroutines, and HTTP requests that may open a session

	mu       sync.Mutex // guards the fields below; never held together with a session's mu
	closed   bool
	quota    quota
	sessions map[*sdk.ServerSession]*session
	byID     map[string]*session // HTTP sessions only
}

// New makes a Front. The caller calls Close.
func New(cfg Config) (*Front, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	f := &Front{
		cfg:      cfg,
		sessions: make(map[*sdk.ServerSession]*session),
		byID:     make(map[string]*session),
		quota:    quota{clients: make(map[string]int)},
		ended:    cfg.InFlight.Hold(),
		failed:   throttle.New(cfg.Logger),
	}
	f.ended.End()
	log := slog.New(minLevelHandler{cfg.Logger.Handler()})
	f.server = f.newServer(log)
	f.http = sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return f.server },
		&sdk.StreamableHTTPOptions{
			Logger:              log,
			MaxRequestBodyBytes: cfg.MaxBody,
			// The caller has checked the host. Behind a reverse proxy on the same machine, the SDK would refuse any host but
			// localhost.
			DisableLocalhostProtection: true,
			// No SessionTimeout: the SDK's would end a session that has only a GET stream as idle.
			// No EventStore: the SDK's keeps an entry for each request as long as the session lives, and opens no new GET
			// stream once it has purged an event. GET streams are served without the SDK: see stream.
		})
	return f, nil
}

func (f *Front) newServer(log *slog.Logger) *sdk.Server {
	server := sdk.NewServer(
		&sdk.Implementation{Name: f.cfg.Name, Title: f.cfg.Title, Version: f.cfg.Version},
		&sdk.ServerOptions{
			Instructions:              f.cfg.Instructions,
			Logger:                    log,
			Capabilities:              capabilities(f.cfg.Tools),
			SupportedProtocolVersions: slices.DeleteFunc(sdk.SupportedProtocolVersions(), isModern),
		})
	server.AddReceivingMiddleware(f.receive)
	// The SDK has no call that sends a given notification to a given session. Its chain of sending middleware does that. So
	// a middleware keeps the rest of the chain for sending, and does not change it.
	server.AddSendingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		f.send = next
		return next
	})
	return server
}

func isModern(revision string) bool { return !mcp.Revision(revision).Legacy() }

// capabilities declares each capability, so that the SDK infers none, such as logging.
func capabilities(tools bool) *sdk.ServerCapabilities {
	c := &sdk.ServerCapabilities{
		Resources:   &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
		Completions: &sdk.CompletionCapabilities{},
	}
	if tools {
		c.Tools = &sdk.ToolCapabilities{}
	}
	return c
}

// Len counts the open sessions.
func (f *Front) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sessions)
}

// Close ends every session, cancels its requests, and waits for that. No session can be opened after it.
func (f *Front) Close() error {
	f.mu.Lock()
	f.closed = true
	open := make([]*session, 0, len(f.sessions))
	for _, s := range f.sessions {
		open = append(open, s)
	}
	f.mu.Unlock()

	var ending sync.WaitGroup
	for _, s := range open {
		ending.Go(func() { s.close(mcp.ErrClosing) })
	}
	ending.Wait()
	f.running.Wait()
	f.failed.Close()
	return nil
}

// open returns the session for a session of the SDK, and makes it if there is none: for its owner, nil when that is
// unknown. It is stored until it ends.
func (f *Front) open(ss *sdk.ServerSession, owner *auth.Caller) (*session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[ss]; s != nil {
		return s, nil
	}
	if f.closed {
		return nil, mcp.ErrClosing
	}
	s := newSession(f, ss)
	s.owner = owner
	f.sessions[ss] = s
	if id := ss.ID(); id != "" {
		f.byID[id] = s
	} else {
		f.running.Go(s.deliver)
	}
	f.running.Go(func() {
		_ = ss.Wait() // an error means that the client has closed the connection
		s.terminate(always)
		f.remove(s)
	})
	return s, nil
}

// remove removes a session that has ended. It is idempotent.
func (f *Front) remove(s *session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, s.sdk)
	delete(f.byID, s.sdk.ID())
	if s.counted {
		s.counted = false
		f.uncountLocked(s.client)
		s.closeAccount()
	}
}

// session returns an open session; nil if there is none.
func (f *Front) session(ss *sdk.ServerSession) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions[ss]
}

// A minLevelHandler discards records below Warn: the SDK logs each connection and message at Info.
type minLevelHandler struct{ slog.Handler }

func (h minLevelHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h minLevelHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return minLevelHandler{h.Handler.WithAttrs(attrs)}
}

func (h minLevelHandler) WithGroup(name string) slog.Handler {
	return minLevelHandler{h.Handler.WithGroup(name)}
}
