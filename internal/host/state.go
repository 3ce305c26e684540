package host

import (
	"time"

	"github.com/wasmres/wasmres/runtime"
)

// A State is the state of a provider.
type State struct {
	// Name is cold, without a process; starting; live; refused: it could not be opened; or empty: it has no active version.
	Name      string
	Reason    string    // of the states refused and empty
	Processes int       // of all its versions, those that start included
	Memory    int64     // bytes of their own that the processes use, by figures that may be a second old
	LastStart time.Time // of a process since the provider was opened; zero for none
}

// add adds what the processes of one version are and use.
func (s *State) add(of runtime.LiveStats) {
	s.Processes += of.Live + of.Starting
	s.Memory += of.Memory
	if of.LastStart.After(s.LastStart) {
		s.LastStart = of.LastStart
	}
	switch {
	case s.Name != "cold" && s.Name != "starting":
	case of.Live > 0:
		s.Name = "live"
	case of.Starting > 0:
		s.Name = "starting"
	}
}

// Live returns what the processes of a tenant's providers are and use.
func (h *Host) Live(tenantID string) runtime.LiveStats {
	r := h.routes.Load().byID[tenantID]
	if r == nil {
		return runtime.LiveStats{}
	}
	return r.live.Stats()
}

// Share returns what the calls of a tenant wait with, and pays for its processor time; nil for a tenant that is not served.
func (h *Host) Share(tenantID string) *runtime.Share {
	if r := h.routes.Load().byID[tenantID]; r != nil {
		return r.share
	}
	return nil
}

// Waiting counts the calls of a tenant that wait for a processor.
func (h *Host) Waiting(tenantID string) int {
	if s := h.Share(tenantID); s != nil {
		return s.Waiting()
	}
	return 0
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

// Sessions returns the open sessions of a tenant's clients, in no order; none for a tenant that is cold or not there.
func (h *Host) Sessions(tenantID string) []runtime.Session {
	r := h.routes.Load().byID[tenantID]
	if r == nil {
		return nil
	}
	s := r.server.Load()
	if s == nil {
		return nil
	}
	return s.Sessions()
}

// States returns the states of a tenant's providers, by name; none for a tenant that is not there.
func (h *Host) States(tenantID string) map[string]State {
	r := h.routes.Load().byID[tenantID]
	if r == nil {
		return nil
	}
	states := r.states()
	for _, m := range r.members.values() {
		if s, ok := states[m.key.provider.Name]; ok {
			s.add(m.value.live.Stats())
			states[m.key.provider.Name] = s
		}
	}
	return states
}

// states returns the states of the providers without what their processes are.
func (r *route) states() map[string]State {
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
			states[p.Name] = State{Name: "empty", Reason: "no version of it is active: deploy one, or promote one that is approved"}
		case r.failure != nil && r.failure.of == is:
			states[p.Name] = State{Name: "refused", Reason: r.failure.err.Error()}
		case r.opening != nil:
			states[p.Name] = State{Name: "starting"}
		default:
			states[p.Name] = State{Name: "cold"}
		}
	}
	return states
}
