package streamable

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
	"github.com/wasmres/wasmres/runtime/internal/ratelimit"
)

// KnowsCallers reports whether requests need a Caller in their context, since the endpoint authenticates clients, limits
// their rate, or logs their requests.
func (h *Handler) KnowsCallers() bool {
	return h.cfg.Auth != nil || h.cfg.Rate != nil || h.cfg.AccessLog != nil
}

// Identify gives who sends a request from a remote address and shows a credential, of which it sets the address. The error is
// one of package auth: [auth.ErrDenied] if the client's identity permits nothing.
func (h *Handler) Identify(remoteAddr string, c auth.Credential) (*auth.Caller, error) {
	caller, address := callerAt(remoteAddr)
	c.Address = address
	if h.cfg.Auth == nil {
		return caller, nil
	}
	identity, err := h.cfg.Auth.Authenticate(c)
	if err != nil {
		return caller, err
	}
	caller.Identity = identity
	if subject := identity.Principal().Subject; subject != auth.Anonymous {
		caller.Key = "=" + subject
	}
	if identity.PermitsNothing() {
		return caller, auth.ErrDenied
	}
	return caller, nil
}

// callerAt gives the client at a remote address. The limits of a client are those of its address or, with IPv6, of its
// network; unlike [mcp.ClientOf], a loopback address counts as one client.
func callerAt(remoteAddr string) (*auth.Caller, netip.Addr) {
	address := auth.AddressOf(remoteAddr)
	if !address.IsValid() {
		return &auth.Caller{}, address
	}
	caller := &auth.Caller{Address: address.String(), Key: address.String()}
	if network := mcp.ClientOf(remoteAddr); network != "" {
		caller.Key = network
	}
	return caller, address
}

// Limit returns the limit of a client's requests; nil for none.
func (h *Handler) Limit(caller *auth.Caller) *ratelimit.Client { return h.cfg.Rate.Client(caller.Key) }

// authenticate puts the client into the context of a request. It refuses a client that it cannot authenticate, and reports
// false for it.
func (h *Handler) authenticate(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	if !h.KnowsCallers() {
		return r, true
	}
	began := time.Now()
	header := strings.Join(r.Header.Values("Authorization"), ", ") // several are no credential
	caller, err := h.Identify(r.RemoteAddr, auth.Credential{Authorization: header, TLS: r.TLS})
	r = r.WithContext(auth.WithCaller(r.Context(), caller))
	if err == nil {
		return r, true
	}
	if !h.allow(w, r, began) { // a client that tries many credentials
		return nil, false
	}
	h.refused.Warn("credential", "request refused", "client", caller.Address, "err", err)
	if tooMany := (*auth.TooManyError)(nil); errors.As(err, &tooMany) {
		h.record(r, began, http.StatusTooManyRequests)
		writeLimit(w, tooMany.RetryAfter, "client")
		return nil, false
	}
	if errors.Is(err, auth.ErrDenied) {
		h.record(r, began, http.StatusForbidden)
		response.WriteJSON(w, http.StatusForbidden, mcp.AppendError(nil, nil, mcp.DeniedError(err)))
		return nil, false
	}
	h.record(r, began, http.StatusUnauthorized)
	h.challenge(w, header)
	response.Refuse(w, http.StatusUnauthorized, err.Error())
	return nil, false
}

// challenge asks a client that sent that header Authorization for a credential.
func (h *Handler) challenge(w http.ResponseWriter, header string) {
	challenge := h.cfg.Auth.Challenge()
	if challenge == "" {
		return
	}
	if header != "" {
		challenge += `, error="invalid_token", error_description="the token is unknown, malformed, expired or revoked"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
}

// allow refuses a request that is not a message, with a status, when the client has sent too many. It reports false then.
func (h *Handler) allow(w http.ResponseWriter, r *http.Request, began time.Time) bool {
	retryAfter, of, ok := h.count(r.Context(), 1)
	if !ok {
		h.record(r, began, http.StatusTooManyRequests)
		writeLimit(w, retryAfter, of)
	}
	return ok
}

// allowMessage refuses a message whose client has sent too many requests, with a JSON-RPC error in a response of status
// 200: clients would discard the body of a response with status 429, which says when to retry. It reports false then. A
// notification is no request; a batch is as many as it has messages.
func (h *Handler) allowMessage(w http.ResponseWriter, r *http.Request, m *mcp.Message, body []byte, began time.Time) bool {
	if h.cfg.Rate == nil || m.IsNotification() {
		return true
	}
	retryAfter, of, ok := h.count(r.Context(), max(1, mcp.BatchSize(body)))
	if ok {
		return true
	}
	if m.ID == nil {
		h.record(r, began, http.StatusTooManyRequests)
		writeLimit(w, retryAfter, of)
		return false
	}
	e := mcp.LimitError(retryAfter, of)
	target, _, _ := m.Target()
	h.cfg.AccessLog.Record(r.Context(), accesslog.Entry{Time: began, Method: m.Method, URI: target, Code: mcp.AccessCode(e)})
	response.WriteError(w, m, e)
	return false
}

// count counts n requests of the client of ctx. of says by what the client is known.
func (h *Handler) count(ctx context.Context, n int) (retryAfter time.Duration, of string, ok bool) {
	caller := auth.CallerOf(ctx)
	if h.cfg.Rate == nil || caller == nil {
		return 0, "", true
	}
	retryAfter, ok = h.Limit(caller).Allow(n)
	if caller.Identity != nil {
		return retryAfter, "principal", ok
	}
	return retryAfter, "client", ok
}

func writeLimit(w http.ResponseWriter, retryAfter time.Duration, of string) {
	response.SetRetryAfter(w.Header(), retryAfter)
	response.WriteJSON(w, http.StatusTooManyRequests, mcp.AppendError(nil, nil, mcp.LimitError(retryAfter, of)))
}

// refusalCodes are the codes of refusals in the access log, by status.
var refusalCodes = map[int]string{
	http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "denied", http.StatusTooManyRequests: "limited",
}

// record logs a request that was refused with a status of refusalCodes.
func (h *Handler) record(r *http.Request, began time.Time, status int) {
	h.cfg.AccessLog.Record(r.Context(), accesslog.Entry{Time: began, Method: r.Method, Code: refusalCodes[status]})
}
