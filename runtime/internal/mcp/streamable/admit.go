package streamable

import (
	"context"
	"encoding/json"
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
//
// ErrPending is no refusal: then only ServeHTTP can tell, since it takes time.
func (h *Handler) Identify(remoteAddr string, c auth.Credential) (*auth.Caller, error) {
	if h.cfg.Auth == nil {
		return h.identifyBy(remoteAddr, c, nil)
	}
	return h.identifyBy(remoteAddr, c, h.cfg.Auth.Authenticate)
}

// identifyBy is Identify by a function that authenticates clients; nil for none.
func (h *Handler) identifyBy(
	remoteAddr string, c auth.Credential, authenticate func(auth.Credential) (*auth.Identity, error),
) (*auth.Caller, error) {
	caller, address := callerAt(remoteAddr)
	c.Address = address
	by, err := identify(caller, c, authenticate)
	if h.cfg.Admission != nil {
		caller.Account = h.cfg.Admission.Account(caller.Key, by)
	}
	return caller, err
}

// identify authenticates a client of a known address, and says by what its account is known.
func identify(
	caller *auth.Caller, c auth.Credential, authenticate func(auth.Credential) (*auth.Identity, error),
) (admission.By, error) {
	if authenticate == nil {
		return admission.Address, nil
	}
	identity, err := authenticate(c)
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
	c := auth.Credential{Authorization: strings.Join(r.Header.Values("Authorization"), ", "), TLS: r.TLS} // several are none
	caller, err := h.Identify(r.RemoteAddr, c)
	if waiter, ok := h.cfg.Auth.(auth.Waiter); ok && errors.Is(err, auth.ErrPending) {
		caller, err = h.identifyBy(r.RemoteAddr, c, func(c auth.Credential) (*auth.Identity, error) { return waiter.Await(r.Context(), c) })
	}
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
	h.refuseClient(w, r, c.Authorization, err, began)
	return nil, false
}

// refuseClient answers a request whose client was not identified for a reason.
func (h *Handler) refuseClient(w http.ResponseWriter, r *http.Request, header string, err error, began time.Time) {
	var tooMany *auth.TooManyError
	var unavailable *auth.UnavailableError
	switch {
	case errors.As(err, &tooMany):
		h.refuseByStatus(w, r, admission.Refusal{Limit: admission.Requests, Of: "client", RetryAfter: tooMany.RetryAfter}, began)
	case errors.As(err, &unavailable):
		h.record(r, began, http.StatusServiceUnavailable)
		response.SetRetryAfter(w.Header(), unavailable.RetryAfter)
		response.Refuse(w, http.StatusServiceUnavailable, err.Error())
	case errors.Is(err, auth.ErrDenied):
		if i := auth.IdentityOf(r.Context()); h.refuseForScope(w, r, nil, i.LackedScopes()) {
			return
		}
		h.record(r, began, http.StatusForbidden)
		response.WriteJSON(w, http.StatusForbidden, mcp.AppendError(nil, nil, mcp.DeniedError(err)))
	default:
		h.record(r, began, http.StatusUnauthorized)
		h.challenge(w, r, header, nil)
		response.Refuse(w, http.StatusUnauthorized, err.Error())
	}
}

// challenge asks a client that sent that header Authorization for a credential, with one of some scopes: by default, those
// that the Authenticator asks for.
func (h *Handler) challenge(w http.ResponseWriter, r *http.Request, header string, scopes []string) {
	challenge := h.cfg.Auth.Challenge(r.Host)
	if challenge == "" {
		return
	}
	if scoped, ok := h.cfg.Auth.(auth.Scoped); ok && len(scopes) == 0 {
		scopes = scoped.Scopes()
	}
	if len(scopes) > 0 {
		challenge += `, scope="` + strings.Join(scopes, " ") + `"`
	}
	if header != "" {
		challenge += `, error="invalid_token", error_description="the token is unknown, malformed, expired or revoked"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
}

// LacksScope returns the scopes of which each would permit what m asks for; none if that is permitted, or if no scope would do.
// Lists, completions and streams of changes have what is permitted instead.
func (h *Handler) LacksScope(ctx context.Context, m *mcp.Message) []string {
	i := auth.IdentityOf(ctx)
	if i == nil || !i.LacksScopes() {
		return nil
	}
	uri, ok := m.URI()
	if !ok {
		return nil
	}
	action := auth.Read
	if m.Method == "resources/subscribe" {
		action = auth.Watch
	}
	return h.lacks(ctx, action, uri)
}

func (h *Handler) lacks(ctx context.Context, action auth.Action, uri string) []string {
	if h.cfg.Lacks == nil {
		return nil
	}
	return h.cfg.Lacks(ctx, action, uri)
}

// refuseForScope refuses a request that needs one of some scopes, and reports whether it has: with no scopes it does nothing. m is
// nil for a request that is no message. A client without a credential is asked for one.
func (h *Handler) refuseForScope(w http.ResponseWriter, r *http.Request, m *mcp.Message, scopes []string) bool {
	if len(scopes) == 0 {
		return false
	}
	var id json.RawMessage
	entry := accesslog.Entry{Time: time.Now(), Method: r.Method}
	if m != nil {
		id, entry.Method = m.ID, m.Method
		entry.URI, _ = m.URI()
	}
	err := &auth.ScopeError{Scopes: scopes}
	status := http.StatusForbidden
	if r.Header.Get("Authorization") == "" {
		status = http.StatusUnauthorized
		h.challenge(w, r, "", scopes)
	} else if challenge := h.cfg.Auth.Challenge(r.Host); challenge != "" {
		w.Header().Set("WWW-Authenticate", challenge+`, error="insufficient_scope", scope="`+strings.Join(scopes, " ")+`", error_description="`+err.Error()+`"`)
	}
	entry.Code = refusalCodes[status]
	h.noteRefused(r.Context(), m, entry)
	response.WriteJSON(w, status, mcp.AppendError(nil, id, mcp.DeniedError(err)))
	return true
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
	h.noteRefused(r.Context(), nil, accesslog.Entry{Time: began, Method: r.Method, Code: mcp.AccessCode(e)})
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

// RefuseMessage logs and traces a message that was refused by a limit, and returns the error for its client.
func (h *Handler) RefuseMessage(ctx context.Context, m *mcp.Message, refused admission.Refusal, began time.Time) *mcp.Error {
	e := mcp.LimitError(refused)
	target, _, _ := m.Target()
	h.noteRefused(ctx, m, accesslog.Entry{Time: began, Method: m.Method, URI: target, Code: mcp.AccessCode(e)})
	return e
}

// refusalCodes are the codes of refusals in the access log, by status.
var refusalCodes = map[int]string{
	http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "denied", http.StatusServiceUnavailable: "unavailable",
}

// record logs and traces a request that was refused with a status of refusalCodes.
func (h *Handler) record(r *http.Request, began time.Time, status int) {
	h.noteRefused(r.Context(), nil, accesslog.Entry{Time: began, Method: r.Method, Code: refusalCodes[status]})
}

// noteRefused logs and traces a request that was refused; m is nil for one of which no message was read.
func (h *Handler) noteRefused(ctx context.Context, m *mcp.Message, e accesslog.Entry) {
	h.cfg.Core.TraceRefused(m, e.Time, e.Code)
	h.cfg.AccessLog.Record(ctx, e)
}
