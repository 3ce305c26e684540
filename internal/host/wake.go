package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/internal/tenant"
)

// Wake opens a tenant, if it is cold, and starts a process for the version of a provider that serves, and for that on trial, unless they
// have one. It waits until they are ready, or ctx ends.
func (h *Host) Wake(ctx context.Context, id tenant.ProviderID) error {
	r := h.routes.Load().byID[id.Tenant]
	if r == nil {
		return fmt.Errorf("no tenant %q is served", id.Tenant)
	}
	is := r.is.Load()
	if is.tenant == nil || is.tenant.Disabled {
		return fmt.Errorf("the tenant %s is disabled", id.Tenant)
	}
	if !is.serves(id.Provider) {
		return errors.New("no version of the provider is active: deploy one, or promote one that is approved")
	}
	if _, err := r.openServer(ctx); err != nil {
		return err
	}
	specs := is.stable
	for _, c := range is.canaries {
		specs = append(specs[:len(specs):len(specs)], c.spec)
	}
	for _, s := range specs {
		if s.provider.Name != id.Provider {
			continue
		}
		if err := r.wake(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// wake starts a process for a provider that is open.
func (r *route) wake(ctx context.Context, s *spec) error {
	m := r.members.find(s)
	if m == nil {
		return unavailableFor("the provider is being opened", minRetry)
	}
	err := m.value.Provider().Wake(ctx)
	return errors.Join(err, m.release())
}

// Stop stops the processes of all versions of a provider that no call uses, and returns how many. The next call starts one again.
func (h *Host) Stop(id tenant.ProviderID) (processes int) {
	r := h.routes.Load().byID[id.Tenant]
	if r == nil {
		return 0
	}
	for _, m := range r.members.values() {
		if m.key.provider.Name == id.Provider {
			processes += m.value.live.Stop()
		}
	}
	return processes
}
