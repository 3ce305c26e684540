// Package netaddr says which network addresses are not public: what a guest or a redirect must not reach unless the operator
// permits it.
package netaddr

import (
	"fmt"
	"net/netip"
)

// A block is a range of addresses that are not public.
type block struct {
	prefix netip.Prefix
	what   string
}

// blocks are the ranges in the special-purpose registries of IANA that are not globally reachable. IPv6 addresses outside
// of 2000::/3 are refused anyway, unless they hold a public IPv4 address.
var blocks = []block{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("168.63.129.16/32"), "metadata of a cloud"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "reserved"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmark"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},

	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("2001:2::/48"), "benchmark"},
	{netip.MustParsePrefix("2001:10::/28"), "reserved"},
	{netip.MustParsePrefix("2001:20::/28"), "reserved"},
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "private"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

var global = netip.MustParsePrefix("2000::/3")

// A tunnel is a range of IPv6 addresses that hold an IPv4 address.
type tunnel struct {
	prefix netip.Prefix
	what   string
	at     int  // offset of its four bytes
	mask   byte // by which they are XORed
}

var tunnels = []tunnel{
	{netip.MustParsePrefix("::/96"), "IPv4-compatible", 12, 0},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), "IPv4-translated", 12, 0},
	{netip.MustParsePrefix("64:ff9b::/96"), "NAT64", 12, 0},
	{netip.MustParsePrefix("2002::/16"), "6to4", 2, 0},
	{netip.MustParsePrefix("2001::/32"), "Teredo", 4, 0},     // the server
	{netip.MustParsePrefix("2001::/32"), "Teredo", 12, 0xff}, // the client
}

// Special names the kind of an address that is not public, as in "loopback"; it is empty for public ones. The kind of an
// IPv6 address that holds an IPv4 address begins with the name of the tunnel, as in "NAT64 link-local".
func Special(addr netip.Addr) string {
	if addr.Is4In6() {
		if what := Special(addr.Unmap()); what != "" {
			return "IPv4-mapped " + what
		}
		return ""
	}
	addr = addr.WithZone("")
	for _, b := range blocks {
		if b.prefix.Contains(addr) {
			return b.what
		}
	}
	if addr.Is4() {
		return ""
	}
	tunnelled := false
	for _, t := range tunnels {
		if !t.prefix.Contains(addr) {
			continue
		}
		if what := Special(t.inner(addr)); what != "" {
			return t.what + " " + what
		}
		tunnelled = true
	}
	if !tunnelled && !global.Contains(addr) {
		return "reserved"
	}
	return ""
}

// inner returns the IPv4 address in an address of the tunnel.
func (t *tunnel) inner(addr netip.Addr) netip.Addr {
	b := addr.As16()
	var v4 [4]byte
	for i := range v4 {
		v4[i] = b[t.at+i] ^ t.mask
	}
	return netip.AddrFrom4(v4)
}

// CheckPublic returns an error unless an address with a port is public, as for the Control of a [net.Dialer].
func CheckPublic(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address: %.64q is invalid", address)
	}
	if what := Special(to.Addr()); what != "" {
		return fmt.Errorf("address: %s is %s", to.Addr(), what)
	}
	return nil
}
