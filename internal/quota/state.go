package quota

import (
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/admission"
)

// A State is what a tenant uses now, or has used today, each with the most that its plan permits.
type State struct {
	Running, Concurrent    int // requests at once
	Streams, MostStreams   int
	Sessions, MostSessions int
	Today, MostToday       Used
}

// State returns what the tenant uses.
func (t *Tenant) State() State {
	s := t.bounds.Load().state()
	s.Running, s.Today = int(max(t.running.Load(), 0)), t.Today()
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Streams, s.Sessions = t.open[admission.Stream].total, t.open[admission.Session].total
	return s
}

// state returns that of a tenant that uses nothing.
func (b *bounds) state() State {
	return State{
		Concurrent: int(b.concurrent), MostStreams: b.streams, MostSessions: b.sessions, MostToday: Used{CPU: b.cpuPerDay, Bytes: b.bytesPerDay},
	}
}

// State returns what the tenant with that ID uses, without making a Tenant. Its plan counts if there is none.
func (b *Book) State(id string, plan *tenant.Plan) State {
	b.mu.Lock()
	b.lookLocked()
	t, used := b.tenants[id], b.today.Tenants[id]
	b.mu.Unlock()
	if t != nil {
		return t.State()
	}
	s := boundsOf(plan).state()
	s.Today = used
	return s
}
