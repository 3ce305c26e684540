package node

import "github.com/wasmres/wasmres/internal/admin"

// Sessions returns the open sessions of a tenant's clients, in no order.
func (n *Node) Sessions(tenantID string) (all []admin.Session) {
	for _, s := range n.host.Sessions(tenantID) {
		all = append(all, admin.Session{
			ID: s.ID, Revision: s.Revision, ClientName: s.ClientName, ClientVersion: s.ClientVersion, Principal: s.Principal,
			Began: s.Began.UTC(), LastRequest: s.LastRequest.UTC(), Streams: s.Streams,
		})
	}
	return all
}
