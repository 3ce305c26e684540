package admin

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/guestlog"
	"github.com/wasmres/wasmres/internal/httpserve"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/usage"
	"github.com/wasmres/wasmres/runtime/auth/failures"
)

// A Host is the server that operators look at. It is safe for concurrent use.
type Host interface {
	// Snapshot returns what the server hosts.
	Snapshot() *tenant.Snapshot
	// Node returns the server. The API sets Tenants and Stale.
	Node() Node
	// Settings returns those in force.
	Settings() *tenant.Settings
	// Apply makes a change, as [tenant.Store] does, and serves it before it returns.
	Apply(ctx context.Context, c tenant.Change) (generation uint64, err error)
	// States returns the states of a tenant's providers, by name. A provider that is missing is cold.
	States(tenantID string) map[string]State
	// Live returns how many processes of a tenant's providers run or start, and the memory that they use, in bytes.
	Live(tenantID string) (processes int, memory uint64)
	// Wake starts a process of a provider, unless it has one, and waits until that is ready.
	Wake(ctx context.Context, id tenant.ProviderID) error
	// Stop stops the processes of a provider that no call uses, and returns how many.
	Stop(id tenant.ProviderID) (processes int)
	// Top returns the busiest tenants, the busiest first: at most so many, of those with requests now or a live provider.
	Top(most int) []Load
	// Reload reads the configuration again. An error says that nothing was changed, and why.
	Reload(ctx context.Context) (Report, error)
}

// A State is the state of a provider.
type State struct {
	Name      string    // cold, starting, live, refused or empty
	Reason    string    // of the states refused and empty
	Processes int       // of all its versions
	Memory    uint64    // bytes of their own that these use
	LastStart time.Time // of a process; zero for none
}

// Keys makes and ends keys. It is safe for concurrent use. Errors may be those of [tenant.Store.Apply].
type Keys interface {
	// Create makes a key with an ID and a text of its own. actor says who asks, for the operator.
	Create(ctx context.Context, actor string, k KeySpec) (made *tenant.Key, text string, err error)
	// Revoke ends a key at once. base is the generation that the caller has checked; zero is any.
	Revoke(ctx context.Context, actor, id string, base uint64) error
	// Rotate makes a key like another one, which is good for no longer than grace then. base is as for Revoke.
	Rotate(ctx context.Context, actor, id string, grace time.Duration, base uint64) (made *tenant.Key, text string, err error)
}

// Once remembers the answers to writes that callers may repeat, for a day. It is safe for concurrent use. Errors may be those
// of [tenant.Store.Apply].
type Once interface {
	// BeginOnce notes that a write begins. If it was noted before, known is true, and answer is what EndOnce has kept; nil if
	// that was not called. An error is [tenant.ErrTooMany] if the caller has too many of them.
	BeginOnce(ctx context.Context, id [32]byte, caller string) (answer []byte, known bool, err error)
	// EndOnce keeps the answer to a write, or forgets that it has begun, for a nil answer.
	EndOnce(ctx context.Context, id [32]byte, answer []byte) error
}

// Config configures a Server. Host, Keys, Once and Secrets are required.
type Config struct {
	Host Host
	Keys Keys
	Once Once

	Secrets Secrets
	// Record writes an entry of what an operator did into the ledger, and returns when it is on disk. Nil discards.
	Record func(context.Context, ledger.Entry) error
	// Refused is told the address of a request by TLS, or of a person who signs in, whose credential is bad or missing. It must not block. Nil discards.
	Refused  func(from netip.Addr)
	Audit    func(context.Context, ledger.Query) (ledger.Found, error) // reads the ledger; nil answers 503 where it is asked for
	Events   Events                                                    // says when Audit has more; nil answers 503 where they are asked for
	Usage    func(context.Context, usage.Query) ([]usage.Row, error)   // reads what tenants have used; nil counts none
	Quotas   func(tenantID string) []Quota                             // what a tenant uses of its plan; nil answers 503 where it is asked for
	Sessions func(tenantID string) []Session                           // open ones, in no order; nil answers 503 where they are asked for
	Versions Versions                                                  // nil answers 503 where they are asked for
	Crashes  Crashes                                                   // nil answers 503 where they are asked for
	Logs     *guestlog.Book                                            // nil answers 503 where it is asked for
	// Takeover hands the server to a process of caller, at the other end of a connection. The Server closes that afterwards. Nil
	// refuses.
	Takeover func(conn *net.UnixConn, caller string)
	Logger   *slog.Logger // nil discards
}

// Bounds of requests.
const (
	maxBody     = 64 << 10 // bytes
	maxHeader   = 16 << 10 // bytes
	maxConns    = 256      // of each listener
	maxOfTenant = 16       // requests of callers that may use one tenant, at once
	headTime    = 5 * time.Second
	readTime    = 10 * time.Second
	requestTime = 30 * time.Second // of a handler but reload's
	reloadTime  = 2 * time.Minute
	idleTime    = time.Minute
	closeTime   = 5 * time.Second // for requests under way when Serve ends
)

// A Server is the API. Make it with [New].
type Server struct {
	cfg     Config
	handler http.Handler
	running running
	streams chan struct{} // has a token for each stream of lines or events
	under   underWay

	failures failures.Counter
}

// New makes a Server.
func New(cfg Config) (*Server, error) {
	if cfg.Host == nil || cfg.Keys == nil || cfg.Once == nil || cfg.Secrets == nil {
		return nil, errors.New("admin: Host, Keys, Once and Secrets are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Refused == nil {
		cfg.Refused = func(netip.Addr) {}
	}
	if cfg.Record == nil {
		cfg.Record = func(context.Context, ledger.Entry) error { return nil }
	}
	s := &Server{cfg: cfg, streams: make(chan struct{}, maxLogStreams)}
	s.handler = s.routes()
	return s, nil
}

// routes makes the handler of all endpoints.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	methods := map[string]map[string]*endpoint{} // by path
	for i := range endpoints {
		e := &endpoints[i]
		if methods[e.path] == nil {
			methods[e.path] = map[string]*endpoint{}
		}
		methods[e.path][e.method] = e
	}
	for pattern, known := range methods {
		mux.Handle(pattern, s.serve(known))
	}
	unknown := s.serve(nil)
	mux.Handle("/", unknown)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked := r.URL.EscapedPath(); !strings.HasPrefix(asked, "/") || path.Clean(asked) != asked { // which the mux would redirect without asking who sends it
			unknown.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// serve makes the handler of a path, whose endpoints are known by method; that of unknown paths has none.
func (s *Server) serve(known map[string]*endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := s.identify(r)
		if err != nil {
			s.writeProblem(w, r, err)
			return
		}
		occupy(r)
		if !s.under.begin(c.tenant) {
			s.writeProblem(w, r, problem(http.StatusTooManyRequests, CodeTooMany, "%d requests for the tenant %s are under way: wait for one to end", maxOfTenant, c.tenant))
			return
		}
		defer s.under.end(c.tenant)
		a, err := s.answer(known, c, w, r)
		if err != nil {
			s.writeProblem(w, r, err)
			return
		}
		s.write(w, r, a)
	})
}

// An underWay counts the requests under way of callers that may use one tenant only, so that those of one tenant do not keep others
// out. The zero value is usable.
type underWay struct {
	mu       sync.Mutex
	byTenant map[string]int
}

// begin counts a request, unless there are too many. The caller calls end. Callers that may use all tenants have no bound.
func (u *underWay) begin(tenantID string) bool {
	if tenantID == "" {
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byTenant[tenantID] >= maxOfTenant {
		return false
	}
	if u.byTenant == nil {
		u.byTenant = map[string]int{}
	}
	u.byTenant[tenantID]++
	return true
}

func (u *underWay) end(tenantID string) {
	if tenantID == "" {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byTenant[tenantID]--; u.byTenant[tenantID] == 0 {
		delete(u.byTenant, tenantID)
	}
}

// answer has the endpoint answer, if the caller may use it.
func (s *Server) answer(known map[string]*endpoint, c caller, w http.ResponseWriter, r *http.Request) (answer, error) {
	e := known[r.Method]
	switch {
	case known == nil:
		return answer{}, &Problem{Status: http.StatusNotFound, Code: CodeNotFound, Detail: "there is no path " + clip(r.URL.Path)}
	case e == nil:
		w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		return answer{}, &Problem{Status: http.StatusMethodNotAllowed, Code: CodeMethod, Detail: clip(r.URL.Path) + " has no method " + clip(r.Method)}
	}
	if err := e.permit(c, r); err != nil {
		return answer{}, s.record(e, c, r, &ledger.Cause{}, err)
	}
	limit := cmp.Or(e.timeout, requestTime)
	if limit > requestTime { // else the time for a whole request holds
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit)) // fails for a writer of a test, which has none
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), callerKey{}, c), limit)
	defer cancel()
	r = r.WithContext(ctx)
	r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(e.maxBody, maxBody))
	if key := r.Header.Get(idempotencyHeader); key != "" && e.action != "" {
		return s.once(key, e, r)
	}
	return s.call(e, r)
}

// call has an endpoint answer, and records what it did.
func (s *Server) call(e *endpoint, r *http.Request) (answer, error) {
	c := callerOf(r.Context())
	cause := &ledger.Cause{Actor: c.name, Via: c.via}
	a, err := e.handle(s, r.WithContext(ledger.WithCause(r.Context(), cause)))
	a.to = c
	return a, s.record(e, c, r, cause, err)
}

// record records a write that was refused or has failed, and one that the server has not recorded while it did it. It returns
// err, or why the entry of a write that has succeeded could not be written.
func (s *Server) record(e *endpoint, c caller, r *http.Request, cause *ledger.Cause, err error) error {
	if e.action == "" || err == nil && cause.IsRecorded() {
		return err
	}
	entry := ledger.Entry{Actor: c.name, Via: c.via, Tenant: r.PathValue("tenant"), Action: e.action, Object: r.URL.Path}
	if err != nil {
		p := problemOf(err)
		entry.Outcome = p.Code + ": " + p.Detail
	}
	if failed := s.cfg.Record(context.WithoutCancel(r.Context()), entry); err == nil && failed != nil {
		return &unrecordedError{failed}
	}
	return err
}

// An unrecordedError is that of a write that was made, and is in force.
type unrecordedError struct{ err error }

func (e *unrecordedError) Error() string {
	return fmt.Sprintf("the change is in force, and could not be recorded: %v", e.err)
}

// writeProblem answers an error.
func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	p.Title = http.StatusText(p.Status)
	switch p.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="wasmres admin"`)
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "60")
	}
	if p.Status >= http.StatusInternalServerError {
		s.cfg.Logger.Warn("admin request failed", "method", r.Method, "path", clip(r.URL.Path), "err", err)
	}
	writeJSON(w, p.Status, problemType, p)
}

const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

// problemOf returns the Problem that an error is.
func problemOf(err error) *Problem {
	var p *Problem
	var large *http.MaxBytesError
	var unrecorded *unrecordedError
	switch {
	case errors.As(err, &unrecorded):
		return problem(http.StatusServiceUnavailable, CodeUnavailable, "%v", err)
	case errors.As(err, &p):
		known := *p
		return &known
	case errors.As(err, &large):
		return &Problem{Status: http.StatusRequestEntityTooLarge, Code: CodeTooLarge, Detail: fmt.Sprintf("the body has more than %d bytes", large.Limit)}
	case errors.Is(err, tenant.ErrConflict):
		return &Problem{Status: http.StatusConflict, Code: CodeConflict, Detail: err.Error()}
	case errors.Is(err, tenant.ErrTooMany):
		return problem(http.StatusTooManyRequests, CodeTooMany, "%v", err)
	case len(strict.ProblemsOf(err)) > 0:
		return problem(http.StatusBadRequest, CodeInvalid, "%v", err)
	case errors.Is(err, tenant.ErrOwned):
		return &Problem{Status: http.StatusConflict, Code: CodeOwned, Detail: err.Error()}
	case errors.Is(err, tenant.ErrInvalid):
		return &Problem{Status: http.StatusBadRequest, Code: CodeInvalid, Detail: err.Error()}
	case errors.Is(err, tenant.ErrUnavailable), errors.Is(err, tenant.ErrClosed), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Problem{Status: http.StatusServiceUnavailable, Code: CodeUnavailable, Detail: err.Error()}
	}
	return &Problem{Status: http.StatusInternalServerError, Code: CodeInternal, Detail: err.Error()}
}

// invalid returns the Problem of a wrong request.
func invalid(format string, args ...any) error {
	return problem(http.StatusBadRequest, CodeInvalid, format, args...)
}

// problem returns a Problem.
func problem(status int, code, format string, args ...any) *Problem {
	return &Problem{Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// write writes an answer.
func (s *Server) write(w http.ResponseWriter, r *http.Request, a answer) {
	if a.tag != "" {
		w.Header().Set("ETag", strconv.Quote(a.tag))
	}
	if a.location != "" {
		w.Header().Set("Location", a.location)
	}
	if a.repeated {
		w.Header().Set(repeatedHeader, "true")
	}
	status := cmp.Or(a.status, http.StatusOK)
	switch {
	case a.stream != nil:
		s.stream(w, r, status, a)
	case a.body == nil:
		w.WriteHeader(status)
	default:
		writeJSON(w, status, jsonType, a.body)
	}
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, status int, a answer) {
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	err := a.stream(r.Context(), streamWriter{w, http.NewResponseController(w), func() error { return s.isStill(r, a.to) }})
	if err == nil {
		return
	}
	if r.Context().Err() == nil {
		s.cfg.Logger.Warn("admin answer cut", "path", clip(r.URL.Path), "err", err)
	}
	panic(http.ErrAbortHandler) // so that the client does not take it for a whole one
}

// isStill refuses to go on with the answer to a request if who has sent it is not any more the caller c, as after a key was revoked.
func (s *Server) isStill(r *http.Request, c caller) error {
	now, err := s.identify(r)
	if err == nil && now != c {
		err = errors.New("the rights of the caller have changed")
	}
	return err
}

func writeJSON(w http.ResponseWriter, status int, contentType string, body any) {
	text, err := json.Marshal(body)
	if err != nil { // no type of this package can fail
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// Serve serves the API on l, as [Listen] makes it, until ctx ends. Then it closes l, and requests under way have five
// seconds.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := httpServer(s.takeovers(s.handler), s.cfg.Logger)
	server.WriteTimeout = reloadTime + readTime
	server.ConnContext = withPeer
	return serveUntil(ctx, server, l, nil)
}

// ServeTLS serves the API on a TCP listener as Serve does, to clients with an admin key, or with a certificate that Settings name.
// config is that of package certificate. pages answers requests of web browsers for /ui and what is below; nil serves none.
func (s *Server) ServeTLS(ctx context.Context, l net.Listener, config *tls.Config, pages http.Handler) error {
	server := httpServer(s.withPages(pages), s.cfg.Logger)
	server.WriteTimeout = reloadTime + readTime
	return serveUntil(ctx, server, l, http11(config))
}

// PagesPath is the path of web pages.
const PagesPath = "/ui"

// withPages returns the handler of the API and of web pages.
func (s *Server) withPages(pages http.Handler) http.Handler {
	if pages == nil {
		return s.handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch at := r.URL.Path; {
		case at == PagesPath, strings.HasPrefix(at, PagesPath+"/"):
			pages.ServeHTTP(w, r)
		case at == "/" && r.Method == http.MethodGet && r.Header.Get("Authorization") == "":
			http.Redirect(w, r, PagesPath+"/", http.StatusSeeOther)
		default:
			s.handler.ServeHTTP(w, r)
		}
	})
}

// A tlsListener accepts connections whose handshake the server of HTTP makes, within the time for a header.
type tlsListener struct {
	net.Listener
	config *tls.Config
}

// Accept implements [net.Listener].
func (l tlsListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return tls.Server(c, l.config), nil
}

// http11 returns a configuration without HTTP/2, whose streams would be more requests at once than the connections allow.
func http11(from *tls.Config) *tls.Config {
	only := func(c *tls.Config) *tls.Config {
		c = c.Clone()
		c.NextProtos = []string{"http/1.1"}
		return c
	}
	c := only(from)
	if next := from.GetConfigForClient; next != nil {
		c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			now, err := next(hello)
			if err != nil || now == nil {
				return now, err
			}
			return only(now), nil
		}
	}
	return c
}

func httpServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headTime, ReadTimeout: readTime, WriteTimeout: requestTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// serveUntil serves on so many connections as there may be, by TLS unless config is nil, until ctx ends.
func serveUntil(ctx context.Context, server *http.Server, from net.Listener, config *tls.Config) error {
	var l net.Listener
	b := newBounded(from, maxConns)
	b.follow(server)
	if l = b; config != nil {
		l = tlsListener{b, config}
	}
	return httpserve.Until(ctx, server, l, closeTime)
}
