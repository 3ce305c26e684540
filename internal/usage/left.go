package usage

// A Left row is one of an hour that its Book could not write any more, for another Book.
type Left struct {
	Key
	Hour int64 // its beginning, in seconds since 1970
	Totals
}

// Left returns what was counted since the Book was closed, and what Close could not write. The Book must be closed.
func (b *Book) Left() []Left {
	b.flushing.Lock()
	defer b.flushing.Unlock()
	b.collect()
	var all []Left
	for k, t := range b.fresh {
		all = append(all, Left{k.Key, k.hour, *t})
	}
	b.fresh = map[hourKey]*Totals{}
	return all
}

// Add counts what another Book has left.
func (b *Book) Add(rows []Left) {
	b.flushing.Lock()
	defer b.flushing.Unlock()
	for i := range rows {
		addTo(b.fresh, hourKey{rows[i].Key, rows[i].Hour}, &rows[i].Totals)
	}
}
