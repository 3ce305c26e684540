// Package forwarded says for which client a trusted proxy has passed a request on.
package forwarded

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/runtime/auth"
)

const (
	maxHops  = 16      // proxies that one request has passed; further to the left nothing is read
	maxField = 8 << 10 // bytes of a header that are read, from its end
)

// Proxies are the networks of trusted proxies. The nil Proxies trust none. They are immutable.
type Proxies struct{ networks []netip.Prefix }

// New makes Proxies of networks; nil if there are none.
func New(networks []netip.Prefix) *Proxies {
	if len(networks) == 0 {
		return nil
	}
	p := &Proxies{}
	for _, network := range networks {
		p.networks = append(p.networks, network.Masked())
	}
	return p
}

// Trusts reports whether an address is that of a trusted proxy. The zero Addr is not.
func (p *Proxies) Trusts(a netip.Addr) bool {
	return p != nil && slices.ContainsFunc(p.networks, func(network netip.Prefix) bool { return network.Contains(a) })
}

// Fields are the headers of a request by which proxies say where it came from, each with its lines joined by commas. Empty is
// absent.
type Fields struct {
	Forwarded string // RFC 7239
	For       string // X-Forwarded-For
}

// FieldsOf gives the Fields of a request.
func FieldsOf(h http.Header) Fields {
	return Fields{strings.Join(h.Values("Forwarded"), ","), strings.Join(h.Values("X-Forwarded-For"), ",")}
}

// Client gives the address of the client of a request that peer has sent. A trusted peer names the one from which it has the
// request, at the right end of a header; when that is a trusted proxy as well, the next to the left says from which that one has
// it, and so on. Where a trusted proxy names no address, the client is that proxy.
//
// A proxy writes one of the two headers, and may pass the other on as a client has written it. So if both are there and
// name different clients, the client is peer: no client can choose another address.
func (p *Proxies) Client(peer netip.Addr, f Fields) netip.Addr {
	switch {
	case !p.Trusts(peer) || f == Fields{}:
		return peer
	case f.For == "":
		return p.walk(peer, f.Forwarded, forOf)
	case f.Forwarded == "":
		return p.walk(peer, f.For, addressOf)
	}
	client := p.walk(peer, f.Forwarded, forOf)
	if client != p.walk(peer, f.For, addressOf) {
		return peer
	}
	return client
}

// walk follows the elements of a header from its end, while they are those of trusted proxies. No address has a comma, so that a
// quotation mark that a client has left open does not hide what a proxy has added.
func (p *Proxies) walk(client netip.Addr, field string, parse func(string) (netip.Addr, bool)) netip.Addr {
	field = field[max(0, len(field)-maxField):]
	for range maxHops {
		comma := strings.LastIndexByte(field, ',')
		next, ok := parse(strings.Trim(field[comma+1:], " \t"))
		if !ok {
			return client
		}
		if client = next; comma < 0 || !p.Trusts(client) {
			return client
		}
		field = field[:comma]
	}
	return client
}

// forOf reads the parameter for of an element of Forwarded.
func forOf(element string) (client netip.Addr, ok bool) {
	for parameter := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.Trim(parameter, " \t"), "=")
		if !strings.EqualFold(name, "for") {
			continue
		}
		if ok {
			return netip.Addr{}, false // it is there twice
		}
		if inner, quoted := strings.CutPrefix(value, `"`); quoted {
			if value, quoted = strings.CutSuffix(inner, `"`); !quoted {
				return netip.Addr{}, false
			}
		}
		if client, ok = addressOf(value); !ok {
			return netip.Addr{}, false
		}
	}
	return client, ok
}

// addressOf reads an address with or without a port. One of IPv6 with a port is in brackets.
func addressOf(s string) (netip.Addr, bool) {
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return clean(withPort.Addr())
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(s, ":") {
			return netip.Addr{}, false
		}
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}, false
	}
	return clean(a)
}

// clean gives an address as that of a connection is given. An address with a zone means nothing on another machine.
func clean(a netip.Addr) (netip.Addr, bool) { return a.Unmap(), a.Zone() == "" && !a.IsUnspecified() }

// Handler has a handler see as the remote address of a request that of its client, with port 0 where a proxy has named it. Nil
// Proxies give next itself.
func (p *Proxies) Handler(next http.Handler) http.Handler {
	if p == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer := auth.AddressOf(r.RemoteAddr)
		if client := p.Client(peer, FieldsOf(r.Header)); client != peer {
			own := *r
			own.RemoteAddr = RemoteAddr(client)
			r = &own
		}
		next.ServeHTTP(w, r)
	})
}

// RemoteAddr gives an address as http.Request has it, with port 0.
func RemoteAddr(client netip.Addr) string { return netip.AddrPortFrom(client, 0).String() }
