package quota

import "time"

// Left is what tenants have used on a day, since their Book was closed.
type Left struct {
	Day     string          `json:"day,omitempty"` // in UTC, as 2026-11-23
	Tenants map[string]Used `json:"tenants,omitempty"`
}

// Left returns what was used since the Book was closed. The Book must be closed.
func (b *Book) Left() Left {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.presentLocked()
	left := Left{Day: now.Day, Tenants: map[string]Used{}}
	for id, u := range now.Tenants {
		if b.saved.Day == now.Day {
			u.CPU -= b.saved.Tenants[id].CPU
			u.Bytes -= b.saved.Tenants[id].Bytes
		}
		if u != (Used{}) {
			left.Tenants[id] = u
		}
	}
	return left
}

// Add counts what another Book has left, if that is of today.
func (b *Book) Add(left Left) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if left.Day != today() {
		return
	}
	if b.earlier.Day != left.Day {
		b.earlier = day{Day: left.Day}
	}
	for id, u := range left.Tenants {
		u.CPU, u.Bytes = max(u.CPU, 0), max(u.Bytes, 0)
		if t := b.tenants[id]; t != nil {
			t.add(u)
			continue
		}
		was := b.earlier.Tenants[id]
		if b.earlier.Tenants == nil {
			b.earlier.Tenants = map[string]Used{}
		}
		b.earlier.Tenants[id] = Used{CPU: was.CPU + u.CPU, Bytes: was.Bytes + u.Bytes}
	}
}

// add counts what was used by another process.
func (t *Tenant) add(u Used) {
	t.beginDay(t.now())
	t.cpu.Add(int64(max(u.CPU, time.Duration(0))))
	t.sent.Add(u.Bytes)
}
