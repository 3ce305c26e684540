package streamable

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

// KnowsCallers reports whether requests need a Caller in their context, since the endpoint authenticates clients, limits
// their rate, or logs their requests.
func (h *Handler) KnowsCallers() bool {
	return h.cfg.Auth != nil || h.cfg.Admission != nil || h.cfg.AccessLog != nil
}

// Identify gives who sends a request from a remote address and shows a credential, of which it sets the address. The error is
// one of package auth: [auth.ErrDenied] if the client's identity permits nothing.
func (h *Handler) Identify(remoteAddr string, c auth.Credential) (*auth.Caller, error) {
	caller, address := callerAt(remoteAddr)
	c.Address = address
	by, err := h.identify(caller, c)
	if h.cfg.Admission != nil {
		caller.Account = h.cfg.Admission.Account(caller.Key, by)
	}
	return caller, err
}

// identify authenticates a client of a known address, and says by what its account is known.
func (h *Handler) identify(caller *auth.Caller, c auth.Credential) (admission.By, error) {
	if h.cfg.Auth == nil {
		return admission.Address, nil
	}
	identity, err := h.cfg.Auth.Authenticate(c)
	if err != nil {
		return admission.Unauthenticated, err
	}
	by := admission.Address
	caller.Identity = identity
	if subject := identity.Principal().Subject; subject != auth.Anonymous {
		caller.Key, by = "="+subject, admission.Principal
	}
	if identity.PermitsNothing() {
		return by, auth.ErrDenied
	}
	return by, nil
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

// authenticate puts the client into the context of a request. It refuses a client that it cannot authenticate, and reports
// false for it.
func (h *Handler) authenticate(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	if !h.KnowsCallers() {
		return r, true
	}
	began := time.Now()
	header := strings.Join(r.Header.Values("Authorization"), ", ") // several are no credential
	caller, err := h.Identify(r.RemoteAddr, auth.Credential{Authorization: header, TLS: r.TLS})
	caller.SetVersion(r.Header.Get(auth.VersionHeader))
	r = r.WithContext(auth.WithCaller(r.Context(), caller))
	if err == nil {
		return r, true
	}
	leave, ok := h.allow(w, r, began)
	if !ok { // a client that tries many credentials
		return nil, false
	}
	defer leave()
	h.refused.Warn("credential", "request refused", "client", caller.Address, "err", err)
	if tooMany := (*auth.TooManyError)(nil); errors.As(err, &tooMany) {
		h.refuseByStatus(w, r, admission.Refusal{Limit: admission.Requests, Of: "client", RetryAfter: tooMany.RetryAfter}, began)
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

// allow refuses a request that is not a message, with a status, when a limit of the client is hit. It reports false then;
// otherwise the caller calls leave when the request was answered.
func (h *Handler) allow(w http.ResponseWriter, r *http.Request, began time.Time) (leave func(), ok bool) {
	account := auth.AccountOf(r.Context())
	if account == nil {
		return func() {}, true
	}
	refused, ok := account.Enter(1)
	if ok {
		return account.Leave, true
	}
	h.refuseByStatus(w, r, refused, began)
	return nil, false
}

// refuseByStatus refuses a request by a limit with status 429.
func (h *Handler) refuseByStatus(w http.ResponseWriter, r *http.Request, refused admission.Refusal, began time.Time) {
	e := mcp.LimitError(refused)
	h.cfg.AccessLog.Record(r.Context(), accesslog.Entry{Time: began, Method: r.Method, Code: mcp.AccessCode(e)})
	response.SetRetryAfter(w.Header(), refused.RetryAfter)
	response.WriteJSON(w, http.StatusTooManyRequests, mcp.AppendError(nil, nil, e))
}

// allowMessage refuses a message when a limit of its client is hit, with a JSON-RPC error in a response of status 200:
// clients would discard the body of a response with status 429, which says when to retry. It reports false then; otherwise
// the caller calls leave when the message was answered. A notification is no request; a batch is as many as it has messages,
// and entered says how many were counted already.
func (h *Handler) allowMessage(
	w http.ResponseWriter, r *http.Request, m *mcp.Message, body []byte, entered int, began time.Time,
) (leave func(), ok bool) {
	account := auth.AccountOf(r.Context())
	requests := max(1, mcp.BatchSize(body)) - entered
	if account == nil || m.IsNotification() || requests <= 0 {
		return func() {}, true
	}
	refused, ok := account.Enter(requests)
	if ok {
		return account.Leave, true
	}
	if m.ID == nil {
		h.refuseByStatus(w, r, refused, began)
		return nil, false
	}
	response.WriteError(w, m, h.RefuseMessage(r.Context(), m, refused, began))
	return nil, false
}

// RefuseMessage logs a message that was refused by a limit, and returns the error for its client.
func (h *Handler) RefuseMessage(ctx context.Context, m *mcp.Message, refused admission.Refusal, began time.Time) *mcp.Error {
	e := mcp.LimitError(refused)
	target, _, _ := m.Target()
	h.cfg.AccessLog.Record(ctx, accesslog.Entry{Time: began, Method: m.Method, URI: target, Code: mcp.AccessCode(e)})
	return e
}

// refusalCodes are the codes of refusals in the access log, by status.
var refusalCodes = map[int]string{
	http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "denied",
}

// record logs a request that was refused with a status of refusalCodes.
func (h *Handler) record(r *http.Request, began time.Time, status int) {
	h.cfg.AccessLog.Record(r.Context(), accesslog.Entry{Time: began, Method: r.Method, Code: refusalCodes[status]})
}
