package streamable

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// A door keeps out web pages that have no business here: those of other origins, and those that made their own name
// point to this server, which only the host they ask for gives away.
type door struct {
	hosts   map[string]bool // in lower case, with or without a port
	origins map[string]bool // as [originKey] gives them
}

func newDoor(hosts, origins []string) (door, error) {
	d := door{hosts: make(map[string]bool), origins: make(map[string]bool)}
	var errs []error
	for _, host := range hosts {
		if u, err := url.Parse("http://" + host); err != nil || u.Host != host || host == "" {
			errs = append(errs, fmt.Errorf("streamable: allowed host %q is not a host", host))
		}
		d.hosts[strings.ToLower(host)] = true
	}
	for _, origin := range origins {
		u, err := parseOrigin(origin)
		if err != nil {
			errs = append(errs, fmt.Errorf("streamable: allowed origin %q is not an origin", origin))
			continue
		}
		d.origins[originKey(u)] = true
	}
	return d, errors.Join(errs...)
}

// check says why a request may not come in.
func (d *door) check(r *http.Request) error {
	local := onLoopback(r)
	host := strings.ToLower(r.Host)
	if !d.allowsHost(host, local) {
		return fmt.Errorf("host %.100q is not allowed", r.Host)
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	u, err := parseOrigin(origins[0])
	switch {
	case err != nil || len(origins) > 1:
	case d.origins[originKey(u)], sameHost(u, host), local && isLocal(u.Hostname()):
		return nil
	}
	return fmt.Errorf("origin %.100q is not allowed", origins[0])
}

func (d *door) allowsHost(host string, local bool) bool {
	name := hostname(host)
	switch {
	case d.hosts[host], d.hosts[name]:
		return true
	case local:
		return isLocal(name)
	}
	return len(d.hosts) == 0
}

// cors tells browsers that pages of the allowed origins may read what they get, and answers when they ask before. It
// reports whether that was all.
func (d *door) cors(w http.ResponseWriter, r *http.Request) (done bool) {
	origin := r.Header.Get("Origin")
	if u, err := parseOrigin(origin); err != nil || !d.origins[originKey(u)] {
		return false
	}
	header := w.Header()
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", "Accept-Ranges, Content-Disposition, Content-Range, ETag, "+
		"Mcp-Session-Id, WWW-Authenticate")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "POST, GET, HEAD, DELETE")
	header.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, If-Match, If-Modified-Since, "+
		"If-None-Match, If-Range, If-Unmodified-Since, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "+
		"Mcp-Session-Id, Range")
	header.Set("Access-Control-Max-Age", "3600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// parseOrigin accepts a scheme and a host, and nothing else.
func parseOrigin(origin string) (*url.URL, error) {
	u, err := url.Parse(origin)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "" || u.Host == "" || (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() != u.String() {
		return nil, errors.New("not an origin")
	}
	return u, nil
}

// originKey gives an origin in lower case and with its port.
func originKey(u *url.URL) string {
	return u.Scheme + "://" + withPort(strings.ToLower(u.Host), u.Scheme)
}

// sameHost reports whether a page of that origin is one of the server it asks. The scheme does not matter: somebody in
// front of us may have taken TLS off.
func sameHost(origin *url.URL, host string) bool {
	return withPort(strings.ToLower(origin.Host), origin.Scheme) == withPort(host, origin.Scheme)
}

func withPort(host, scheme string) string {
	if hostname(host) != host && !strings.HasSuffix(host, "]") {
		return host
	}
	if scheme == "https" {
		return host + ":443"
	}
	return host + ":80"
}

// hostname cuts the port off, if there is one. Brackets stay.
func hostname(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		return host[:i]
	}
	return host
}

// isLocal reports whether a host name is one of those this machine has for itself.
func isLocal(name string) bool {
	return name == "localhost" || name == "127.0.0.1" || name == "::1" || name == "[::1]"
}

// onLoopback reports whether a request came in on an address only this machine reaches.
func onLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	local, err := netip.ParseAddrPort(addr.String())
	return err == nil && local.Addr().Unmap().IsLoopback()
}
