package node

import "github.com/wasmres/wasmres/runtime/auth"

// CheckClock looks at the clock, as a running server does each second.
func (n *Node) CheckClock() { n.checkClock() }

// Authenticator returns that of a tenant's clients.
func (n *Node) Authenticator(tenantID string) auth.Authenticator {
	return n.keys.Authenticator(tenantID)
}
