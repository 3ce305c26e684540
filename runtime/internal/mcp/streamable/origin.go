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

// An originPolicy refuses web pages that may not call the server: those of other origins, and those whose own DNS name
// points to this server (DNS rebinding), which only the header Host shows.
type originPolicy struct {
	hosts   map[string]bool // in lower case, with or without a port
	origins map[string]bool // as [originKey] gives them
}

func newOriginPolicy(hosts, origins []string) (originPolicy, error) {
	p := originPolicy{hosts: make(map[string]bool), origins: make(map[string]bool)}
	var errs []error
	for _, host := range hosts {
		if u, err := url.Parse("http://" + host); err != nil || u.Host != host || host == "" {
			errs = append(errs, fmt.Errorf("streamable: allowed host %q is not a host", host))
		}
		p.hosts[strings.ToLower(host)] = true
	}
	for _, origin := range origins {
		u, err := parseOrigin(origin)
		if err != nil {
			errs = append(errs, fmt.Errorf("streamable: allowed origin %q is not an origin", origin))
			continue
		}
		p.origins[originKey(u)] = true
	}
	return p, errors.Join(errs...)
}

// A refusal is the error of a request that is not allowed.
type refusal struct {
	kind string // "host" or "origin"
	text string
}

func (r *refusal) Error() string { return r.text }

// check returns the reason to refuse a request; nil if it is allowed.
func (p *originPolicy) check(r *http.Request) *refusal {
	local := localAddr(r)
	host := strings.ToLower(r.Host)
	if !p.allowsHost(host, local) {
		return &refusal{"host", fmt.Sprintf("host %.100q is not allowed: the operator allows it with --allowed-host of 'wasmres run', or with allowed_hosts in serve.yaml", r.Host)}
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	u, err := parseOrigin(origins[0])
	switch {
	case err != nil || len(origins) > 1:
	case p.origins[originKey(u)], sameHost(u, host), local.IsLoopback() && isLocal(u.Hostname()):
		return nil
	}
	return &refusal{"origin", fmt.Sprintf("origin %.100q is not allowed: the operator allows it with --allowed-origin of 'wasmres run', or with origins in the file of the tenant", origins[0])}
}

// allowsHost reports whether a request may name host, in lower case, on a connection to the address local: an allowed
// host, local itself or, if local is a loopback address, localhost. Any other name could be one that an attacker's DNS
// server points to this machine (DNS rebinding). The zero local is unknown and allows no address.
func (p *originPolicy) allowsHost(host string, local netip.Addr) bool {
	name := hostname(host)
	return p.hosts[host] || p.hosts[name] || local.IsLoopback() && isLocal(name) || isLiteral(name, local)
}

// isLiteral reports whether a host name is the IP literal of addr. An IPv6 literal is in brackets (RFC 3986 §3.2.2).
func isLiteral(name string, addr netip.Addr) bool {
	inner, bracketed := strings.CutPrefix(name, "[")
	if bracketed {
		inner, bracketed = strings.CutSuffix(inner, "]")
	}
	literal, err := netip.ParseAddr(inner)
	return err == nil && bracketed == literal.Is6() && literal.Unmap() == addr
}

// setCORS sets the headers that permit pages of the allowed origins to read the response. It answers preflight requests,
// and reports done for those.
func (p *originPolicy) setCORS(w http.ResponseWriter, r *http.Request) (done bool) {
	origin := r.Header.Get("Origin")
	if u, err := parseOrigin(origin); err != nil || !p.origins[originKey(u)] {
		return false
	}
	header := w.Header()
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", "Accept-Ranges, Content-Disposition, Content-Range, ETag, "+
		"MCP-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate")
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

// parseOrigin accepts a scheme and a host without anything else.
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

// originKey returns an origin in lower case and with its port.
func originKey(u *url.URL) string {
	return u.Scheme + "://" + withPort(strings.ToLower(u.Host), u.Scheme)
}

// sameHost reports whether a page of that origin comes from host, the server itself. The schemes may differ: a proxy in
// front of the server may have terminated TLS.
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

// isLocal reports whether a host name means this machine on every machine.
func isLocal(name string) bool {
	return name == "localhost" || name == "127.0.0.1" || name == "::1" || name == "[::1]"
}

// localAddr returns the address of this machine on which the connection of a request arrived; the zero Addr when it is
// unknown.
func localAddr(r *http.Request) netip.Addr {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return netip.Addr{}
	}
	return IPOf(addr)
}

// IPOf returns the IP address of a network address without its zone; the zero Addr when it has none. An IPv4 address
// that is mapped to IPv6 is given as IPv4.
func IPOf(addr net.Addr) netip.Addr {
	ip, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return netip.Addr{}
	}
	return ip.Addr().Unmap().WithZone("")
}
