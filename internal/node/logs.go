package node

import (
	"log/slog"

	"github.com/wasmres/wasmres/internal/tenant"
)

// guestLogs returns the handler of what a provider logs.
func (n *Node) guestLogs(of tenant.ProviderID, next slog.Handler) slog.Handler {
	return n.logs.Handler(next, of.Tenant, of.Provider)
}

// logBytes returns the most bytes of the log files of a tenant, as its plan says; zero for the default.
func (n *Node) logBytes(tenantID string) int64 {
	s := n.store.Snapshot()
	plan := tenant.DefaultPlan
	if t := s.Tenants[tenantID]; t != nil && s.Plans[t.Plan] != nil {
		plan = t.Plan
	}
	if p := s.Plans[plan]; p != nil {
		return p.LogBytes
	}
	return 0
}
