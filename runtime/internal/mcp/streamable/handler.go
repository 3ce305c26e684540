package streamable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"time"

	"github.com/wasmres/wasmres/internal/throttle"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/download"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/subscription"
	"github.com/wasmres/wasmres/runtime/trace"
)

// Path is the path of the MCP endpoint in [Handler.ServeHTTP].
const Path = "/mcp"

// MetadataPath is where clients that sign in look for the metadata of the endpoint (RFC 9728 §3.1).
const MetadataPath = "/.well-known/oauth-protected-resource" + Path

const jsonType = "application/json"

const (
	defaultMaxRequestBytes = 4 << 20
	defaultBodyTimeout     = 30 * time.Second
)

// Config is what a Handler needs. Core is required.
type Config struct {
	Core   *mcp.Core
	Legacy Legacy // serves the older revisions; nil serves none

	// AllowedHosts are the names by which clients may reach the server, as in "mcp.example.com" or, for one port,
	// "localhost:8080". The address on which a connection arrives is always allowed as an IP literal, and on a loopback
	// address localhost, 127.0.0.1 and [::1].
	AllowedHosts []string
	// AllowedOrigins are the origins of web pages that may call the server, as in "https://app.example.com", beside the
	// server's own and, on a loopback address, those of localhost.
	AllowedOrigins []string

	Auth auth.Authenticator // tells who sends a request; nil serves every client
	// Lacks returns the scopes of which each would permit the client of a request to do something with a URI; none if it may, or
	// if no scope would do. Nil regards no scopes.
	Lacks func(ctx context.Context, action auth.Action, uri string) []string
	// Metadata answers requests for what the endpoint says of itself to clients that sign in (RFC 9728), at MetadataPath; nil for
	// nothing there.
	Metadata  http.Handler
	Admission admission.Gate // bounds what clients use; nil does not
	AccessLog mcp.AccessLog  // gets requests that are refused; the Core's gets the others; nil for none

	MaxRequestBytes int64         // the longest body; 0 means 4 MiB
	BodyTimeout     time.Duration // for the body of a request to come; 0 means 30 s
	Logger          *slog.Logger  // nil discards
}

// A Handler is an MCP endpoint. It is safe for concurrent use.
type Handler struct {
	// fixed at creation
	cfg           Config
	origins       originPolicy
	refused       *throttle.Log // requests that origins or Auth refuses
	subscriptions *subscription.Set
}

// New makes a Handler. The caller calls Close.
func New(cfg Config) (*Handler, error) {
	var errs []error
	if cfg.Core == nil {
		errs = append(errs, errors.New("streamable: a Core is required"))
	}
	if cfg.MaxRequestBytes < 0 || cfg.BodyTimeout < 0 {
		errs = append(errs, errors.New("streamable: MaxRequestBytes or BodyTimeout is negative"))
	}
	origins, err := newOriginPolicy(cfg.AllowedHosts, cfg.AllowedOrigins)
	if errs = append(errs, err); errors.Join(errs...) != nil {
		return nil, errors.Join(errs...)
	}
	if cfg.MaxRequestBytes == 0 {
		cfg.MaxRequestBytes = defaultMaxRequestBytes
	}
	if cfg.BodyTimeout == 0 {
		cfg.BodyTimeout = defaultBodyTimeout
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Handler{
		cfg: cfg, origins: origins, refused: throttle.New(cfg.Logger), subscriptions: subscription.NewSet(cfg.Logger),
	}, nil
}

// Close ends every subscription with its result, and waits for that. It refuses later subscriptions, and answers other
// requests as before.
func (h *Handler) Close() error {
	h.refused.Close()
	h.subscriptions.Close()
	return nil
}

// EndStreams ends the subscriptions that are open, with their result. It does not wait for that.
func (h *Handler) EndStreams() { h.subscriptions.End() }

// Streams counts the open subscriptions.
func (h *Handler) Streams() int { return h.subscriptions.Len() }

// Core returns the Core of the configuration.
func (h *Handler) Core() *mcp.Core { return h.cfg.Core }

// Legacy returns the server of the older revisions; nil if there is none.
func (h *Handler) Legacy() Legacy { return h.cfg.Legacy }

// MaxRequestBytes returns the bound on a body, in bytes.
func (h *Handler) MaxRequestBytes() int64 { return h.cfg.MaxRequestBytes }

// Find returns h, and whether path is Path: a Handler is a router with one endpoint.
func (h *Handler) Find(_, path []byte) (*Handler, bool) { return h, string(path) == Path }

// AllowsHost reports whether clients may name host, in lower case, on a connection to the address local. The zero Addr
// means an unknown address.
func (h *Handler) AllowsHost(host string, local netip.Addr) bool {
	return h.origins.allowsHost(host, local)
}

// ServeHTTP serves the endpoint at Path, and tells clients of other paths where it is.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case h.cfg.Metadata != nil && r.URL.Path == MetadataPath:
		h.cfg.Metadata.ServeHTTP(w, r)
	case !h.accept(w, r):
	case r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		io.WriteString(w, "wasmres serves the Model Context Protocol at "+Path+"\n")
	case r.URL.Path != Path:
		http.Error(w, "nothing here: the Model Context Protocol is at "+Path, http.StatusNotFound)
	default:
		h.serve(w, r)
	}
}

// ServeEndpoint serves the endpoint at any path.
func (h *Handler) ServeEndpoint(w http.ResponseWriter, r *http.Request) {
	if h.accept(w, r) {
		h.serve(w, r)
	}
}

// accept refuses a request whose Host or Origin is not allowed, and reports false for it.
func (h *Handler) accept(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	err := h.origins.check(r)
	if err != nil {
		h.refused.Warn(err.kind, "request refused", "err", err)
		response.Refuse(w, http.StatusForbidden, err.Error())
	}
	return err == nil
}

// serve answers a request to the endpoint.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	if h.origins.setCORS(w, r) { // browsers ask without a credential
		return
	}
	r, ok := h.authenticate(w, r)
	if !ok {
		return
	}
	inSession := h.cfg.Legacy != nil && r.Header.Get(sessionHeader) != ""
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		h.get(w, r, inSession)
	case r.Method == http.MethodPost:
		h.post(w, r)
	case inSession && r.Method == http.MethodDelete:
		h.cfg.Legacy.ServeHTTP(w, r)
	default:
		refuseMethod(w)
	}
}

func refuseMethod(w http.ResponseWriter) {
	w.Header().Set("Allow", http.MethodPost)
	http.Error(w, "send MCP messages with POST; download a resource with GET and ?uri=URI", http.StatusMethodNotAllowed)
}

// get answers a download, or a request for the stream of a session. The stream is no request under way.
func (h *Handler) get(w http.ResponseWriter, r *http.Request, inSession bool) {
	leave, ok := h.allow(w, r, time.Now())
	switch {
	case !ok:
	case download.IsRequest(r):
		defer leave()
		if !h.refuseForScope(w, r, nil, h.lacks(r.Context(), auth.Download, r.URL.Query().Get("uri"))) {
			download.Serve(w, r, h.cfg.Core)
		}
	case inSession && r.Method == http.MethodGet:
		leave()
		h.cfg.Legacy.ServeHTTP(w, r)
	default:
		leave()
		refuseMethod(w)
	}
}

// maxUncounted is the longest body in bytes that is read before its requests are counted: that tells a notification from a
// request, and the client of a request that is refused gets an answer with its id.
const maxUncounted = 64 << 10

// post answers a message as its revision requires.
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != jsonType {
		response.Refuse(w, http.StatusUnsupportedMediaType, "Content-Type is not application/json")
		return
	}
	entered, leaveEarlier := 0, func() {}
	if r.ContentLength < 0 || r.ContentLength > maxUncounted {
		var ok bool
		if leaveEarlier, ok = h.allow(w, r, began); !ok {
			return
		}
		entered = 1
	}
	leaving := leaveEarlier
	defer func() { leaving() }()
	hold := h.cfg.Core.InFlight().Hold()
	defer hold.End()
	body, err := h.readBody(w, r, hold)
	if errors.Is(err, errNoRoom) {
		w.Header().Set("Retry-After", "1")
		response.WriteJSON(w, http.StatusServiceUnavailable, mcp.AppendError(nil, nil, mcp.BusyError()))
		return
	}
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		response.Refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", tooLarge.Limit))
		return
	}
	if err != nil {
		response.Refuse(w, http.StatusBadRequest, "the body is incomplete")
		return
	}
	m, failure := mcp.ParseMessage(body)
	if h.cfg.Core.Traces() {
		m.Trace = trace.FromHeader(r.Header)
	}
	leave, ok := h.allowMessage(w, r, m, body, entered, began)
	if !ok {
		return
	}
	leaving = func() { leave(); leaveEarlier() }
	if m.Method == mcp.ListenMethod { // what lasts is no request under way
		leaving()
		leaving = func() {}
	}
	switch {
	case h.refuseForScope(w, r, m, h.LacksScope(r.Context(), m)):
	case !h.isLegacy(r, m):
		h.answerModern(w, r, m, failure)
	case failure == nil && m.IsCoreRequest() && AcceptsBoth(r.Header.Values("Accept")) && h.answerInSession(w, r, m):
	default:
		h.passToLegacy(w, r, m, body)
	}
}
