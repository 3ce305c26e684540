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

	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/throttle"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Defaults of a Config.
const (
	defaultIdle         = 30 * time.Minute
	defaultMaxSessions  = 10_000
	defaultMaxPerClient = 1000
	defaultMaxBody      = 4 << 20 // bytes
)

// Why a session ended.
var (
	errIdle    = errors.New("the session was idle for too long")
	errCrowded = errors.New("the session was ended to make room for another")
	errEnded   = errors.New("the session has ended")
)

// A Caller answers requests, does what can wait until an answer is written, forgets sessions, and bounds the streams of
// changes of all revisions; [mcp.Core] is one.
type Caller interface {
	Call(ctx context.Context, call *mcp.Call) (json.RawMessage, *mcp.Error)
	AfterResponse()
	EndSession(session string)
	OpenStream(ctx context.Context, client string, end func()) (leave func(), failure *mcp.Error)
}

// A Subscriber reports changes; every [resource.Source] is one.
type Subscriber interface {
	Subscribe(ctx context.Context, uris []string, list bool, n resource.Notifier) (accepted []string, err error)
}

// Config is what a Front needs. Core, Source, Name and Version are required.
type Config struct {
	Core   Caller
	Source Subscriber

	Name         string
	Title        string
	Version      string
	Instructions string // for the model; empty for none
	Tools        bool   // as in [mcp.Config]

	Idle             time.Duration // an HTTP session without requests for this long ends; 0 means 30 minutes
	MaxSessions      int           // sessions at once; 0 means 10,000
	MaxPerClient     int           // sessions at once of one client, as [mcp.ClientOf] names it; 0 means 1,000
	MaxSubscriptions int           // resources one session may be subscribed to; 0 means 1,024
	MaxBody          int64         // bytes of an HTTP request; 0 means 4 MiB

	// InFlight bounds the memory of answers that have not been written yet; nil for no bound.
	InFlight *inflight.Budget
	// URIs keeps those of subscriptions; nil bounds and shares nothing.
	URIs *mcp.URIs

	Logger *slog.Logger // nil discards
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
		missing = append(missing, errors.New("legacy: a limit is negative"))
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

	failed *throttle.Log // what fails for one client after the other

	leases sync.Map       // of *lease, by name
	leased atomic.Uint64  // leases there have been
	ended  *inflight.Hold // of messages whose lease has ended

	running sync.WaitGroup // goroutines and HTTP requests that may open a session

	mu       sync.Mutex // guards the fields below; never held together with a session's mu
	closed   bool
	room     room
	sessions map[*sdk.ServerSession]*session
	byID     map[string]*session // HTTP sessions only
}

// New makes a Front. It starts nothing.
func New(cfg Config) (*Front, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	f := &Front{
		cfg:      cfg,
		sessions: make(map[*sdk.ServerSession]*session),
		byID:     make(map[string]*session),
		room:     room{clients: make(map[string]int)},
		ended:    cfg.InFlight.Hold(),
		failed:   throttle.New(cfg.Logger),
	}
	f.ended.End()
	log := slog.New(quiet{cfg.Logger.Handler()})
	f.server = f.newServer(log)
	f.http = sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return f.server },
		&sdk.StreamableHTTPOptions{
			Logger:              log,
			MaxRequestBodyBytes: cfg.MaxBody,
			// The front before us knows the hosts it is reached by. The SDK would refuse all but localhost behind a
			// reverse proxy on the same machine.
			DisableLocalhostProtection: true,
			// No SessionTimeout: the SDK's ends a session that listens on a GET stream as if it were idle.
			// No EventStore: the SDK's keeps an entry for each request as long as the session lives, and once it has
			// purged an event no new GET stream can be opened. GET streams are served without the SDK: see stream.
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
			SupportedProtocolVersions: slices.DeleteFunc(sdk.SupportedProtocolVersions(), later),
		})
	server.AddReceivingMiddleware(f.receive)
	// The SDK can tell every session of a change in its registry, which we do not use, but has no call that sends a
	// given notification to a given session. Its sending chain does just that, for any session and any notification a
	// client may receive, and a middleware is handed the rest of the chain: we keep it and leave the chain as it was.
	server.AddSendingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		f.send = next
		return next
	})
	return server
}

func later(revision string) bool { return !mcp.Revision(revision).Legacy() }

// capabilities are all declared here: nothing is left to be inferred, logging among it.
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

// Close ends every session, stopping what it still runs, and waits for all of it. No session can be opened afterwards.
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
		ending.Go(func() { s.abort(mcp.ErrClosing) })
	}
	ending.Wait()
	f.running.Wait()
	f.failed.Close()
	return nil
}

// open keeps the session until it has ended, or finds it again.
func (f *Front) open(ss *sdk.ServerSession) (*session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[ss]; s != nil {
		return s, nil
	}
	if f.closed {
		return nil, mcp.ErrClosing
	}
	s := newSession(f, ss)
	f.sessions[ss] = s
	if id := ss.ID(); id != "" {
		f.byID[id] = s
	} else {
		f.running.Go(s.deliver)
	}
	f.running.Go(func() {
		_ = ss.Wait() // why it ended is of no interest: the client may go at any time
		s.end(always)
		f.drop(s)
	})
	return s, nil
}

// drop takes a session out of the tables. It is idempotent.
func (f *Front) drop(s *session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, s.sdk)
	delete(f.byID, s.sdk.ID())
	if s.counted {
		s.counted = false
		f.leaveLocked(s.client)
	}
}

// session finds an open session.
func (f *Front) session(ss *sdk.ServerSession) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions[ss]
}

// quiet drops what is below Warn: the SDK tells of each connection and message at Info.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
