package host

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/internal/oauth"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/resource"
)

var errDisabled = errors.New("the operator has disabled the tenant")

// ServeHTTP implements [runtime.Router]. It serves the endpoints of tenants, opens those that are cold, and tells clients of
// other paths where an endpoint is.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	rs := h.routes.Load()
	if of, ok := strings.CutPrefix(r.URL.Path, oauth.ResourcePrefix); ok {
		h.serveMetadata(w, r, rs, of)
		return
	}
	route, id := rs.findPath(r.Host, r.URL.Path)
	switch {
	case r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		io.WriteString(w, "wasmres serves the Model Context Protocol at /t/TENANT/mcp\n")
	case route == nil && !rs.gone[id].IsZero():
		http.Error(w, "the tenant was removed", http.StatusGone)
	case route == nil && id != "":
		http.Error(w, "no such tenant", http.StatusNotFound)
	case route == nil:
		http.Error(w, "nothing here: the Model Context Protocol is at /t/TENANT/mcp", http.StatusNotFound)
	case rs.isMisdirected(r, route):
		http.Error(w, "the connection is for another host: send the request on one for this host", http.StatusMisdirectedRequest)
	default:
		route.serveHTTP(w, r)
	}
}

// findPath returns the tenant of a request; nil for none. id is empty if the path is not that of a tenant.
func (rs *routes) findPath(host, path string) (r *route, id string) {
	id, _ = idOf(path)
	return rs.find([]byte(host), []byte(path)), id
}

// serveHTTP answers a request to the tenant.
func (r *route) serveHTTP(w http.ResponseWriter, req *http.Request) {
	is := r.is.Load()
	switch {
	case is.tenant == nil:
		http.Error(w, "the tenant was removed", http.StatusGone)
		return
	case is.tenant.Disabled:
		runtime.Deny(w, errDisabled)
		return
	}
	if s := r.server.Load(); s != nil {
		s.ServeHTTP(w, req)
		return
	}
	if err := r.mayOpen(req); err != nil {
		r.host.strangers.Warn("credential", "request to a tenant that is not open refused", "tenant", r.id, "client", auth.AddressOf(req.RemoteAddr), "err", err)
		r.serveOnce(w, req, is, nothing{})
		return
	}
	ctx, cancel := context.WithTimeout(req.Context(), r.host.cfg.OpenWait)
	defer cancel()
	s, err := r.openServer(ctx)
	if err != nil {
		r.serveOnce(w, req, is, unavailable{err})
		return
	}
	s.ServeHTTP(w, req)
}

// mayOpen refuses a request of a client for which no cold tenant is opened.
func (r *route) mayOpen(req *http.Request) error {
	values := req.Header.Values("Authorization")
	if len(values) > 1 {
		return auth.ErrInvalid
	}
	c := auth.Credential{TLS: req.TLS, Address: auth.AddressOf(req.RemoteAddr)}
	if len(values) == 1 {
		c.Authorization = values[0]
	}
	clients := r.host.cfg.Clients.Authenticator(r.id)
	_, err := clients.Authenticate(c)
	if waiter, ok := clients.(auth.Waiter); ok && errors.Is(err, auth.ErrPending) {
		_, err = waiter.Await(req.Context(), c)
	}
	return err
}

// serveMetadata answers a request for the metadata of the endpoint at a path.
func (h *Host) serveMetadata(w http.ResponseWriter, r *http.Request, rs *routes, path string) {
	var text []byte
	if route := rs.find([]byte(r.Host), []byte(path)); route != nil {
		host := ""
		if path == endpointPath {
			host = string(nameOf([]byte(r.Host)))
		}
		text = h.cfg.Metadata(route.id, host)
	}
	if text == nil {
		w.Header().Set("Access-Control-Allow-Origin", "*") // so that the page learns the status
		http.Error(w, "nothing here: no endpoint at "+strconv.Quote(path)+" takes tokens of an issuer", http.StatusNotFound)
		return
	}
	oauth.ServeMetadata(w, r, text)
}

// serveOnce answers one request as the tenant's server would, from another source: without opening a provider. The server
// for it lasts for one request, so that it could not count what it leaves out of the log: it logs nothing. It opens no
// session and no stream, which would end with it.
func (r *route) serveOnce(w http.ResponseWriter, req *http.Request, is *settings, source resource.Source) {
	opts := r.options(is)
	opts.Name, opts.Version, opts.Logger = r.id, "0", nil
	opts.Admission = &gateOnce{opts.Admission}
	s, err := runtime.NewServer(source, opts)
	if err != nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the tenant cannot be served now", http.StatusServiceUnavailable)
		return
	}
	defer s.Close()
	s.ServeHTTP(w, req)
}
