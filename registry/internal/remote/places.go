package remote

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/wasmres/wasmres/internal/netaddr"
)

// A refusedError says where a registry may not lead its client.
type refusedError struct{ text, advice string }

func (r *refusedError) Error() string { return r.text }

func refusedf(format string, args ...any) error {
	return &refusedError{fmt.Sprintf(format, args...), "do not trust this registry, or name the host that it led to"}
}

// places decide which addresses a registry, its redirects and its token server may have. The registry itself may have any if
// ownAnywhere is set: the user named it. All others must be public, in one of the networks, or private as such a registry is.
type places struct {
	// fixed at creation
	isOwn       func(name, port string) bool
	ownAnywhere bool
	networks    []netip.Prefix

	proxies sync.Map    // host:port of those that the operator chose
	private atomic.Bool // the registry, which may be anywhere, has a private address
}

// proxy remembers the proxies that choose returns.
func (p *places) proxy(choose func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(req *http.Request) (*url.URL, error) {
		u, err := choose(req)
		if u != nil {
			p.proxies.Store(net.JoinHostPort(u.Hostname(), portOf(u)), true)
		}
		return u, err
	}
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	switch u.Scheme {
	case "http":
		return "80"
	case "socks5", "socks5h":
		return "1080"
	}
	return "443"
}

// dialer returns what connects to a host, and checks its address after the name was looked up unless it may have any.
func (p *places) dialer(name, port string, isProxy bool) *net.Dialer {
	d := &net.Dialer{Timeout: dialTime, KeepAlive: keepAlive}
	own := p.isOwn(name, port)
	if !isProxy && !(own && p.ownAnywhere) {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return refusedf("the registry led to the address %.64q, which is invalid", address)
			}
			return p.checkAddress(at.Addr(), own)
		}
	}
	return d
}

func (p *places) dial(ctx context.Context, network, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	_, isProxy := p.proxies.Load(address)
	conn, err := p.dialer(name, port, isProxy).DialContext(ctx, network, address)
	if err != nil || !p.ownAnywhere || !p.isOwn(name, port) {
		return conn, err
	}
	if at, ok := conn.RemoteAddr().(*net.TCPAddr); ok && isPrivate(netaddr.Special(at.AddrPort().Addr().Unmap())) {
		p.private.Store(true)
	}
	return conn, nil
}

func isPrivate(kind string) bool { return kind == "private" || kind == "shared" }

// checkAddress checks an address of the registry, if it is its own, or one that it led to.
func (p *places) checkAddress(addr netip.Addr, own bool) error {
	addr = addr.Unmap().WithZone("")
	kind := netaddr.Special(addr)
	if kind == "" || isPrivate(kind) && p.private.Load() {
		return nil
	}
	for _, network := range p.networks {
		if network.Contains(addr) {
			return nil
		}
	}
	if own { // who named it may not learn which address it has
		return &refusedError{fmt.Sprintf("the address of the registry is %s, and only public ones are permitted here", kind),
			"push the module as a file, or have the operator permit this registry or its network, as by registries.allow in serve.yaml"}
	}
	return refusedf("the registry led to %s, a %s address", addr, kind)
}

// check decides about the URL of a request before any connection: plain is whether the registry itself is reached by HTTP.
func (p *places) check(u *url.URL, plain bool) error {
	name := u.Hostname()
	own := p.isOwn(name, portOf(u))
	if u.Scheme != "https" && !(u.Scheme == "http" && own && plain) {
		return refusedf("the registry led to %s://%.100s, and only https is followed", u.Scheme, u.Host)
	}
	if own && p.ownAnywhere {
		return nil
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return p.checkAddress(addr, own)
	}
	// A proxy may read a name that ends in a number as an address.
	if last := name[strings.LastIndexByte(strings.TrimSuffix(name, "."), '.')+1:]; last == "" || '0' <= last[0] && last[0] <= '9' {
		return refusedf("the registry led to the host %.100q, which is no name", name)
	}
	return nil
}
