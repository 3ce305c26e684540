package mcp

import "net/netip"

// ClientOf names the client at a remote address, as limits for each client count it: an IPv4 address, or the network of
// 64 bits of an IPv6 address, of which one machine has any address it likes. It is empty for an address that tells
// nothing of the client: a loopback address, behind which a reverse proxy may have many, and one that is no IP address.
func ClientOf(remoteAddr string) string {
	remote, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return ""
	}
	addr := remote.Addr().Unmap().WithZone("")
	switch {
	case addr.IsLoopback():
		return ""
	case addr.Is4():
		return addr.String()
	}
	network, _ := addr.Prefix(64) // an IPv6 address has that many bits
	return network.String()
}
