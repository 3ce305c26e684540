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
type refusedError struct{ text string }

func (r *refusedError) Error() string { return r.text }

func refusedf(format string, args ...any) error { return &refusedError{fmt.Sprintf(format, args...)} }

// places decide which addresses a registry, its redirects and its token server may have. The registry itself may have any:
// the user named it. All others must be public, or private as the registry is.
type places struct {
	isOwn   func(name, port string) bool
	proxies sync.Map // host:port of those that the operator chose
	private atomic.Bool
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

func newDialer() *net.Dialer { return &net.Dialer{Timeout: dialTime, KeepAlive: keepAlive} }

func (p *places) dial(ctx context.Context, network, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := newDialer()
	_, proxy := p.proxies.Load(address)
	own := p.isOwn(name, port)
	if !own && !proxy {
		dialer.Control = p.checkDial // after the name was looked up
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil || !own {
		return conn, err
	}
	if at, ok := conn.RemoteAddr().(*net.TCPAddr); ok && isPrivate(netaddr.Special(at.AddrPort().Addr().Unmap())) {
		p.private.Store(true)
	}
	return conn, nil
}

func isPrivate(kind string) bool { return kind == "private" || kind == "shared" }

func (p *places) checkDial(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return refusedf("the registry led to the address %.64q, which is invalid", address)
	}
	return p.checkAddress(at.Addr())
}

func (p *places) checkAddress(addr netip.Addr) error {
	kind := netaddr.Special(addr.Unmap())
	if kind == "" || isPrivate(kind) && p.private.Load() {
		return nil
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
	if own {
		return nil
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return p.checkAddress(addr)
	}
	// A proxy may read a name that ends in a number as an address.
	if last := name[strings.LastIndexByte(strings.TrimSuffix(name, "."), '.')+1:]; last == "" || '0' <= last[0] && last[0] <= '9' {
		return refusedf("the registry led to the host %.100q, which is no name", name)
	}
	return nil
}
