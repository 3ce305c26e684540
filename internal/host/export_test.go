package host

import (
	"log/slog"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/tenant"
)

// Compared reports how a call ended that ran twice, of a provider whose plan keeps no URIs.
func (h *Host) Compared(tenantID string, p tenant.Provider, d *app.Difference, failed error) {
	h.compared(tenant.ProviderID{Tenant: tenantID, Provider: p.Name}, &spec{provider: p}, d, failed, slog.New(slog.DiscardHandler))
}
