package link

import (
	"math/rand/v2"
	"slices"
	"time"
)

// guessBits is how many bits of a call's number the worker cannot predict.
const guessBits = 20

// number returns the number of the nth call of a link. It is higher than earlier ones, and unpredictable: a worker
// cannot answer a call before it has received it.
func number(n uint64) uint64 { return n<<guessBits | uint64(rand.Uint32N(1<<guessBits)) }

// put makes a call the last one on a link. The caller holds Set.mu.
func (l *link) put(c *pendingCall) {
	l.made++
	c.link, c.seq, c.first = l, number(l.made), len(l.calls) == 0
	l.calls = append(l.calls, c)
	l.conn.PutMessage(c.encode())
}

// enqueue puts a call behind others. The caller holds Set.mu.
func (l *link) enqueue(c *pendingCall) {
	l.put(c)
	l.queuedBytes += c.size()
	if !l.isWatched {
		l.watchQueue()
	}
}

// watchQueue sets the timer that moves waiting calls. The caller holds Set.mu.
func (l *link) watchQueue() {
	l.isWatched, l.watched = true, l.calls[0].seq
	if l.queueTimer == nil {
		l.queueTimer = time.AfterFunc(maxQueueTime, l.moveWaiting)
		return
	}
	l.queueTimer.Reset(maxQueueTime)
}

// moveWaiting moves the calls that wait behind a long one to other links.
func (l *link) moveWaiting() {
	s := l.set
	s.mu.Lock()
	l.isWatched = false
	var moving []*pendingCall
	switch {
	case len(l.calls) < 2:
	case l.calls[0].seq != l.watched:
		l.watchQueue()
	default:
		moving = slices.Clone(l.calls[1:])
		l.calls, l.queuedBytes = l.calls[:1], 0
		for _, c := range moving {
			l.abandonedReplies = append(l.abandonedReplies, c.seq)
		}
		s.unshare(l)
	}
	s.mu.Unlock()
	l.requeue(moving)
}

// requeue moves calls to other links, and then tells the worker, which may read that late.
func (l *link) requeue(moving []*pendingCall) {
	if len(moving) == 0 {
		return
	}
	seqs := make([]uint64, len(moving))
	for i, c := range moving {
		seqs[i] = c.seq // from the next line on, c belongs to its caller
		c.state <- moved
	}
	l.set.cfg.Logger.Debug("waiting calls moved to other links", "link", l.id, "calls", len(moving))
	for _, seq := range seqs {
		l.set.cfg.Process.Cancel(l.id, seq)
	}
}
