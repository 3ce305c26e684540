package composite

import (
	"sync"

	"github.com/wasmres/wasmres/runtime/resource"
)

// usedMembers are those with calls that have ended since AfterResponse. It is safe for concurrent use.
type usedMembers struct {
	mu    sync.Mutex
	first *member // guarded by mu, as is nextUsed of each member
}

// add adds a member that has ended a call.
func (u *usedMembers) add(m *member) {
	if m.isUsed.Swap(true) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	m.nextUsed, u.first = u.first, m
}

// take removes one; nil when there is none. Calls that end from now on add it again.
func (u *usedMembers) take() *member {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.first
	if m != nil {
		u.first, m.nextUsed = m.nextUsed, nil
		m.isUsed.Store(false)
	}
	return m
}

// AfterResponse implements [resource.AfterResponder], for the members with calls that have ended since the last one.
func (s *Source) AfterResponse() {
	for m := s.used.take(); m != nil; m = s.used.take() {
		if a, ok := m.Source.(resource.AfterResponder); ok {
			a.AfterResponse()
		}
	}
}
