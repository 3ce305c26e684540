package quota

import "maps"

// maxOthers bounds the days of a Book beside the present one.
const maxOthers = 2

// A day has what tenants have used.
type day struct {
	Day     string          `json:"day"` // in UTC, as 2026-11-23
	Tenants map[string]Used `json:"tenants"`
}

// split returns what was used on the days of a name, and the first of the other days.
func split(all []day, name string) (used map[string]Used, others []day) {
	used = map[string]Used{}
	for _, d := range all {
		switch {
		case d.Day == name:
			for id, u := range d.Tenants {
				used[id] = used[id].plus(u)
			}
		case d.Day != "" && len(others) < maxOthers:
			others = append(others, d)
		}
	}
	return used, others
}

// look begins the next day if it is time for that.
func (b *Book) look() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lookLocked()
}

// lookLocked begins the next day if it is time for that. If the clock was set to another day, what was used since the day began counts on
// that day, with what the Book had of it.
func (b *Book) lookLocked() {
	end := b.calendar.end
	switch b.calendar.look() {
	case nextDay:
		ended, all := b.endLocked(), b.others
		if ended.Day != b.calendar.name { // or else it was too long, and what was used in it counts no more
			all = append([]day{ended}, all...)
		}
		b.renameLocked(all)
	case renamedDay:
		b.renameLocked(b.others)
	}
	if end != b.calendar.end { // last: requests that read the new midnight do not wait for b.mu, and must find the counts of the new day
		for _, t := range b.tenants {
			t.midnight.Store(b.calendar.end)
		}
	}
}

// renameLocked gives the present day the name that the calendar has, and counts what was used on the days of that name.
func (b *Book) renameLocked(all []day) {
	var used map[string]Used
	b.today.Day = b.calendar.name
	used, b.others = split(all, b.today.Day)
	for id, u := range used {
		b.countLocked(id, u)
	}
}

// countLocked counts what a tenant has used today.
func (b *Book) countLocked(id string, u Used) {
	if t := b.tenants[id]; t != nil {
		t.add(u)
		return
	}
	b.today.Tenants[id] = b.today.Tenants[id].plus(u)
}

// presentLocked is what the tenants have used today; those that have used nothing are left out.
func (b *Book) presentLocked() day { return b.dayLocked((*Tenant).used) }

// endLocked is presentLocked, but has the tenants begin another day with nothing.
func (b *Book) endLocked() day {
	ended := b.dayLocked((*Tenant).reset)
	b.today.Tenants = map[string]Used{}
	return ended
}

func (b *Book) dayLocked(used func(*Tenant) Used) day {
	d := day{b.today.Day, maps.Clone(b.today.Tenants)}
	for id, t := range b.tenants {
		if u := used(t); u != (Used{}) {
			d.Tenants[id] = u
		}
	}
	return d
}
