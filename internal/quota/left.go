package quota

// Left is what tenants have used on a day, since their Book was closed.
type Left struct {
	Day     string          `json:"day,omitempty"` // in UTC, as 2026-11-23
	Tenants map[string]Used `json:"tenants,omitempty"`
}

// Left returns what was used since the Book was closed. The Book must be closed.
func (b *Book) Left() Left {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lookLocked()
	now := b.presentLocked()
	left := Left{Day: now.Day, Tenants: map[string]Used{}}
	for id, u := range now.Tenants {
		if now.Day == b.saved.Day {
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
	b.lookLocked()
	if left.Day != b.today.Day {
		return
	}
	for id, u := range left.Tenants {
		b.countLocked(id, Used{CPU: max(u.CPU, 0), Bytes: max(u.Bytes, 0)})
	}
}
