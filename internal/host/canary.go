package host

import (
	"time"

	"github.com/wasmres/wasmres/internal/rollout"
	"github.com/wasmres/wasmres/internal/tenant"
)

// maxLoads is how often a canary is loaded before it is taken back because that fails.
const maxLoads = 3

// A trial is that of a canary, for as long as the snapshot has it.
type trial struct {
	*rollout.Trial
	version int
	began   time.Time
	loads   int   // that have failed
	problem error // of the last one; nil if it is loaded
}

// A takenBack is a canary that the host has taken back, and that the snapshot still has.
type takenBack struct {
	version int
	reason  string
}

// trial returns the trial of a canary.
func (r *route) trial(s *spec) *rollout.Trial {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trialLocked(s.provider.Name, s.version).Trial
}

func (r *route) trialLocked(name string, version int) *trial {
	t := r.trials[name]
	if t == nil || t.version != version {
		t = &trial{version: version, began: time.Now()}
		t.Trial = rollout.NewTrial(func(reason string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.takeBackLocked(name, version, reason)
		})
		r.trials[name] = t
	}
	return t
}

// takeBackLocked gives the clients of a canary to the active version, and reports that.
func (r *route) takeBackLocked(name string, version int, reason string) {
	c, ok := r.is.Load().canaryOf(name)
	if !ok || c.spec.version != version || r.closed {
		return // it was taken out meanwhile
	}
	r.host.cfg.Logger.Warn("version taken back", "tenant", r.id, "provider", name, "version", version, "reason", reason)
	r.back[name] = takenBack{version, reason}
	r.applyLocked()
	id := tenant.ProviderID{Tenant: r.id, Provider: name}
	r.host.work.Go(func() { r.host.cfg.CanaryFailed(id, version, reason) })
}

// noteCanariesLocked notes which canaries have been loaded, and returns whether to try again, after a wait.
func (r *route) noteCanariesLocked(is *settings, problems map[string]error) (wait time.Duration, again bool) {
	for _, c := range is.canaries {
		name := c.spec.provider.Name
		t := r.trialLocked(name, c.spec.version)
		if t.problem = problems[name]; t.problem == nil {
			t.loads = 0
			continue
		}
		t.loads++
		r.host.cfg.Logger.Error("version on trial not loaded", "tenant", r.id, "provider", name, "version", t.version, "err", t.problem)
		if t.loads >= maxLoads {
			r.takeBackLocked(name, t.version, "it cannot be loaded: "+t.problem.Error())
			continue
		}
		wait, again = max(wait, minRetry<<(t.loads-1)), true
	}
	return wait, again
}

// stopTrialsLocked ends the trials that the present settings no longer have. Their clients are at the active version at
// once, unless that is what they are on.
func (r *route) stopTrialsLocked(is *settings) {
	for name, t := range r.trials {
		if c, ok := is.canaryOf(name); ok && c.spec.version == t.version {
			continue
		}
		delete(r.trials, name)
		if !is.isActive(name, t.version) {
			t.Stop()
		}
	}
}

// isActive reports whether a version of a provider is the active one.
func (is *settings) isActive(name string, version int) bool {
	for _, s := range is.stable {
		if s.provider.Name == name {
			return s.version == version
		}
	}
	return false
}

// A Rollout is the state of a version on trial, for callers that wait for its end.
type Rollout struct {
	Version int
	Began   time.Time      // zero while no client has asked for the tenant
	Active  rollout.Counts // of the active version of the provider, since then
	Canary  rollout.Counts
	// History is the same in steps of time since then, which are StepTime long.
	History  []rollout.Step
	StepTime time.Duration
	// Failed says why the version was taken back, if it was: the host has reported it, and the snapshot still has it.
	Failed string
	// Problem says why the version is not loaded, while it is tried again.
	Problem string
}

// Subscriptions returns how many subscriptions the clients of a tenant have, all of which follow its routes.
func (h *Host) Subscriptions(tenantID string) int {
	r := h.routes.Load().byID[tenantID]
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		return 0
	}
	return r.open.source.Subscriptions()
}

// Rollout returns the state of a provider's version on trial; false if it has none.
func (h *Host) Rollout(id tenant.ProviderID) (Rollout, bool) {
	r := h.routes.Load().byID[id.Tenant]
	if r == nil {
		return Rollout{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if b, ok := r.back[id.Provider]; ok {
		return Rollout{Version: b.version, Failed: b.reason}, true
	}
	c, ok := r.is.Load().canaryOf(id.Provider)
	if !ok {
		return Rollout{}, false
	}
	state := Rollout{Version: c.spec.version}
	if t := r.trials[id.Provider]; t != nil {
		state.Began = t.began
		state.Active, state.Canary = t.Counts()
		state.StepTime, state.History = t.History()
		if t.problem != nil {
			state.Problem = t.problem.Error()
		}
	}
	return state, true
}
