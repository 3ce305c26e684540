package mcp

import "net/netip"

// ClientOf returns the name of the client at a remote address, for limits of each client: an IPv4 address, or the /64
// network of an IPv6 address, since one machine may use any address of it. The name is empty for a loopback address,
// which may be a reverse proxy with many clients, and for an address that is not of IP.
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
