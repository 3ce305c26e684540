package streamable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"time"

	"github.com/wasmres/wasmres/internal/inflight"
	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/streamable/download"
	"github.com/wasmres/wasmres/internal/mcp/streamable/response"
	"github.com/wasmres/wasmres/internal/mcp/streamable/subscription"
	"github.com/wasmres/wasmres/internal/throttle"
)

// Path is the MCP endpoint.
const Path = "/mcp"

const jsonType = "application/json"

const (
	defaultMaxRequestBytes = 4 << 20
	defaultBodyTimeout     = 30 * time.Second
)

// Config is what a Handler needs. Core is required.
type Config struct {
	Core   *mcp.Core
	Legacy Legacy // serves the older revisions; nil serves none

	// AllowedHosts are the names clients may reach the server by, as in "mcp.example.com" or, for one port,
	// "localhost:8080". The address a connection comes in on is always allowed as an IP literal, and localhost,
	// 127.0.0.1 and [::1] on a loopback address.
	AllowedHosts []string
	// AllowedOrigins are the origins web pages may come from, as in "https://app.example.com", beside the server's own
	// and, on a loopback listener, localhost's.
	AllowedOrigins []string

	MaxRequestBytes int64         // of a body; 0 means 4 MiB
	BodyTimeout     time.Duration // for a body to arrive; 0 means 30 s
	Logger          *slog.Logger  // nil discards
}

// A Legacy serves the older revisions. Their requests of the usual kind are answered by the core, too.
type Legacy interface {
	http.Handler
	// Begin finds the session m belongs to, notes m as one of its requests, and fills in what the core needs to know.
	// cancel is called when the session ends, or its client cancels m. version is the header of that name, which may be
	// empty. finish is to be called when m has been answered. Whatever is wrong, ok is false and ServeHTTP says it.
	Begin(session, version string, m *mcp.Message, cancel context.CancelCauseFunc) (finish func(), ok bool)
}

// A Handler is the MCP endpoint, and a hint for those who look elsewhere.
type Handler struct {
	// fixed at creation
	cfg       Config
	door      door
	refused   *throttle.Log // requests, at the door
	listening *subscription.Set
}

// New makes a Handler.
func New(cfg Config) (*Handler, error) {
	var errs []error
	if cfg.Core == nil {
		errs = append(errs, errors.New("streamable: a Core is required"))
	}
	if cfg.MaxRequestBytes < 0 || cfg.BodyTimeout < 0 {
		errs = append(errs, errors.New("streamable: MaxRequestBytes or BodyTimeout is negative"))
	}
	door, err := newDoor(cfg.AllowedHosts, cfg.AllowedOrigins)
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
		cfg: cfg, door: door, refused: throttle.New(cfg.Logger), listening: subscription.NewSet(cfg.Logger),
	}, nil
}

// Close ends every subscription with its result, and waits for that. Later ones are refused; other requests are not.
func (h *Handler) Close() error {
	h.refused.Close()
	h.listening.Close()
	return nil
}

// Core gives the Core of the configuration.
func (h *Handler) Core() *mcp.Core { return h.cfg.Core }

// Legacy gives what serves the older revisions; nil for nothing.
func (h *Handler) Legacy() Legacy { return h.cfg.Legacy }

// MaxRequestBytes is how long a body may be.
func (h *Handler) MaxRequestBytes() int64 { return h.cfg.MaxRequestBytes }

// Find gives h itself for the path of the endpoint, whatever the host: so it is a router of one endpoint.
func (h *Handler) Find(_, path []byte) (*Handler, bool) { return h, string(path) == Path }

// AllowsHost reports whether clients may name host, in lower case, on a connection to the address local; the zero Addr is
// unknown.
func (h *Handler) AllowsHost(host string, local netip.Addr) bool {
	return h.door.allowsHost(host, local)
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := h.door.check(r); err != nil {
		h.refused.Warn(err.kind, "request refused", "err", err)
		response.Refuse(w, http.StatusForbidden, err.Error())
		return
	}
	legacySession := h.cfg.Legacy != nil && r.Header.Get(sessionHeader) != ""
	switch {
	case r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		io.WriteString(w, "wasmres serves the Model Context Protocol at "+Path+"\n")
	case r.URL.Path != Path:
		http.Error(w, "nothing here: the Model Context Protocol is at "+Path, http.StatusNotFound)
	case h.door.cors(w, r):
	case download.IsRequest(r):
		download.Serve(w, r, h.cfg.Core)
	case r.Method == http.MethodPost:
		h.post(w, r)
	case legacySession && (r.Method == http.MethodGet || r.Method == http.MethodDelete):
		h.cfg.Legacy.ServeHTTP(w, r)
	default:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "MCP messages are sent here with POST; GET with ?uri=URI downloads a resource", http.StatusMethodNotAllowed)
	}
}

// post reads a message and finds out of which era it is.
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != jsonType {
		response.Refuse(w, http.StatusUnsupportedMediaType, "Content-Type is not application/json")
		return
	}
	hold := h.cfg.Core.InFlight().Hold()
	defer hold.End()
	body, err := h.readBody(w, r, hold)
	if errors.Is(err, errCrowded) {
		w.Header().Set("Retry-After", "1")
		response.WriteJSON(w, http.StatusServiceUnavailable, mcp.AppendError(nil, nil, mcp.TooBusy()))
		return
	}
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		response.Refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", tooLarge.Limit))
		return
	}
	if err != nil {
		response.Refuse(w, http.StatusBadRequest, "the body is cut off")
		return
	}
	m, failure := mcp.ParseMessage(body)
	switch {
	case !h.isLegacy(r, m):
		h.modern(w, r, m, failure)
	case failure == nil && m.Usual() && AcceptsBoth(r.Header.Values("Accept")) && h.inSession(w, r, m):
	default:
		h.handOn(w, r, m, body)
	}
}

// inSession answers a request of an older revision, if it is one of its session's that the core can answer.
func (h *Handler) inSession(w http.ResponseWriter, r *http.Request, m *mcp.Message) bool {
	session, version := r.Header.Values(sessionHeader), r.Header.Values(versionHeader)
	if len(session) != 1 || len(version) > 1 {
		return false
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	finish, ok := h.cfg.Legacy.Begin(session[0], r.Header.Get(versionHeader), m, cancel)
	if !ok {
		return false
	}
	defer finish()
	h.answer(w, r.WithContext(ctx), m)
	return true
}

// errCrowded says that there is no room for a body.
var errCrowded = errors.New("bodies and answers take the memory there is for them")

// A weighedBody is a body of which what is large is taken from a Hold.
type weighedBody struct {
	io.Reader
	hold *inflight.Hold
	size int
}

// bodyCopies is how often the bytes of a body are in memory, about: the buffer they are read into, and what is made of
// them.
const bodyCopies = 3

// Read implements [io.Reader].
func (b *weighedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.size += n; b.size > inflight.Free && !b.hold.Take(bodyCopies*n) {
		return n, errCrowded
	}
	return n, err
}

// readBody takes the whole body, if it comes in time. What is large of it is taken from hold, as it comes. Where there is
// no room for the rest from the beginning, nothing is read.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request, hold *inflight.Hold) ([]byte, error) {
	size := int(min(r.ContentLength, h.cfg.MaxRequestBytes))
	if size > inflight.Free && !hold.Fits(bodyCopies*size) {
		return nil, errCrowded
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(h.cfg.BodyTimeout)) // not every server can
	body := &weighedBody{Reader: http.MaxBytesReader(w, r.Body, h.cfg.MaxRequestBytes), hold: hold}
	text, err := readAll(body, size)
	if err == nil {
		_ = control.SetReadDeadline(time.Time{}) // a stream may stay open for hours
	}
	return text, err
}

// readAll reads all that r has, which is said to be size bytes; a negative size is unknown. The buffer is never larger
// than bodyCopies times what has come, and where size is true it ends up no larger than that.
func readAll(r io.Reader, size int) ([]byte, error) {
	const usual = 4 << 10 // bytes of a request
	text := make([]byte, 0, usual)
	for {
		if len(text) == cap(text) {
			room := 2 * cap(text)
			if len(text) <= size && size < bodyCopies*cap(text) {
				room = size + 1 // with a byte to meet the end in
			}
			text = append(make([]byte, 0, room), text...)
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
}

// isLegacy reports whether a message is of an older revision. A malformed one is what its headers say.
func (h *Handler) isLegacy(r *http.Request, m *mcp.Message) bool {
	version := r.Header.Get(versionHeader)
	switch {
	case h.cfg.Legacy == nil || m.Modern():
		return false
	case m.Method == "initialize" || mcp.Revision(version).Legacy():
		return true
	}
	return version == "" && m.Method != "server/discover"
}

// handOn gives a request to the handler of the older revisions, with its body as it came.
func (h *Handler) handOn(w http.ResponseWriter, r *http.Request, m *mcp.Message, body []byte) {
	if m.Method == "initialize" {
		body = mcp.LegacyInitialize(body)
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	h.cfg.Legacy.ServeHTTP(w, r)
}
