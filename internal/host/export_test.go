package host

import (
	"log/slog"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// Compared reports how a call ended that ran twice, of a provider whose plan keeps no URIs.
func (h *Host) Compared(tenantID string, p tenant.Provider, d *app.Difference, failed error) {
	h.compared(tenant.ProviderID{Tenant: tenantID, Provider: p.Name}, &spec{provider: p}, d, failed, slog.New(slog.DiscardHandler))
}

// UsedAgain has a provider of a tenant told what a second run has used, as the runtime tells it.
func UsedAgain(of *quota.Tenant, m Meter, u runtime.Usage) {
	logs := func(_ tenant.ProviderID, next slog.Handler) slog.Handler { return next }
	r := &route{host: &Host{cfg: Config{Logs: logs}}, id: "a", log: slog.New(slog.DiscardHandler)}
	r.quota.Store(of)
	r.config(&spec{provider: tenant.Provider{Name: "notes"}}, Module{}, nil, m).UsedAgain(u)
}
