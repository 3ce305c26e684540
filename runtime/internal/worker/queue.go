package worker

import (
	"math/rand/v2"
	"slices"
	"time"
)

// guessBits is how many bits of a call's number a worker cannot know before it gets the call.
const guessBits = 20

// number makes the number of the nth call of a link. It is higher than those before it, and cannot be guessed: a worker
// cannot answer a call before it has got it.
func number(n uint64) uint64 { return n<<guessBits | uint64(rand.Uint32N(1<<guessBits)) }

// put makes a trip the last of those on a link. It is called with links.mu held.
func (l *link) put(tr *trip) {
	l.calls++
	tr.link, tr.seq, tr.first = l, number(l.calls), len(l.trips) == 0
	l.trips = append(l.trips, tr)
	l.conn.PutMessage(tr.tell())
}

// follow puts a trip behind others. It is called with links.mu held.
func (l *link) follow(tr *trip) {
	l.put(tr)
	l.ahead += tr.size()
	if !l.looking {
		l.look()
	}
}

// look sets the lookout. It is called with links.mu held.
func (l *link) look() {
	l.looking, l.seen = true, l.trips[0].seq
	if l.lookout == nil {
		l.lookout = time.AfterFunc(stall, l.relieve)
		return
	}
	l.lookout.Reset(stall)
}

// relieve sends those elsewhere who wait behind a long call.
func (l *link) relieve() {
	t := l.worker.links
	t.mu.Lock()
	l.looking = false
	var moved []*trip
	switch {
	case len(l.trips) < 2:
	case l.trips[0].seq != l.seen:
		l.look()
	default:
		moved = slices.Clone(l.trips[1:])
		l.trips, l.ahead = l.trips[:1], 0
		for _, tr := range moved {
			l.strays = append(l.strays, tr.seq)
		}
		t.pace, t.fast = stall, false
		t.unshare(l)
	}
	t.mu.Unlock()
	l.dismiss(moved)
}

// dismiss sends trips elsewhere, and then tells the worker, which may take its time to hear of it.
func (l *link) dismiss(moved []*trip) {
	if len(moved) == 0 {
		return
	}
	seqs := make([]uint64, len(moved))
	for i, tr := range moved {
		seqs[i] = tr.seq // as long as it is ours
		tr.turn <- elsewhere
	}
	l.worker.runner.cfg.Logger.Debug("calls wait behind a long one and take other links", "link", l.id, "calls", len(moved))
	for _, seq := range seqs {
		l.worker.cancel(l.id, seq)
	}
}
