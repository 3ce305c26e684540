package host

import "github.com/wasmres/wasmres/runtime"

// A State is the state of a provider.
type State struct {
	Name   string // cold, starting, idle, refused, or empty: a provider without an active version
	Reason string // of the states refused and empty
}

// Live returns what the processes of a tenant's providers are and use.
func (h *Host) Live(tenantID string) runtime.LiveStats {
	r := h.routes.Load().byID[tenantID]
	if r == nil {
		return runtime.LiveStats{}
	}
	return r.live.Stats()
}

// Streams counts the open streams of changes of all tenants: those of subscriptions/listen, and those of sessions.
func (h *Host) Streams() (listening, ofSessions int) {
	for _, r := range h.routes.Load().byID {
		if s := r.server.Load(); s != nil {
			a, b := s.Streams()
			listening, ofSessions = listening+a, ofSessions+b
		}
	}
	return listening, ofSessions
}

// States returns the states of a tenant's providers, by name. A provider that is missing is cold.
func (h *Host) States(tenantID string) map[string]State {
	r := h.routes.Load().byID[tenantID]
	if r == nil {
		return nil
	}
	is := r.is.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	states := map[string]State{}
	if is.tenant == nil {
		return states
	}
	for i := range is.tenant.Providers {
		p := &is.tenant.Providers[i]
		switch {
		case !is.serves(p.Name):
			states[p.Name] = State{"empty", "no version of it is active: deploy one, or promote one that is approved"}
		case r.failure != nil && r.failure.of == is:
			states[p.Name] = State{"refused", r.failure.err.Error()}
		case r.opening != nil:
			states[p.Name] = State{Name: "starting"}
		case r.open != nil:
			states[p.Name] = State{Name: "idle"}
		}
	}
	return states
}
