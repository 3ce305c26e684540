package fair

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a Queue. Slots is required.
type Config struct {
	Slots int // turns that hold a processor at once
	// MaxWaiting is how many turns may wait at once. Zero means 4,096.
	MaxWaiting int
	// MaxWaitingOfShare is how many turns of one share may wait at once. Zero means 64. Turns of calls that have begun are not
	// counted.
	MaxWaitingOfShare int
	// Slice is how long a turn keeps its slot while another share waits that has running turns too. Zero means 4 ms. A share
	// without running turns waits for a quarter of it.
	Slice time.Duration
	// Waited receives how long each turn has waited that got a slot after a wait. Many goroutines call it at once. It must not
	// block. Nil discards.
	Waited func(time.Duration)
}

const (
	defaultMaxWaiting        = 4096
	defaultMaxWaitingOfShare = 64
	defaultSlice             = 4 * time.Millisecond
	maxSlots                 = 4096
	// lingers is how long after the last wait of a turn the queue still counts what shares use. When no turn has waited for so
	// long, no share is behind others.
	lingers = 50 * time.Millisecond
)

func (cfg *Config) complete() error {
	if cfg.Slots < 1 || cfg.Slots > maxSlots {
		return fmt.Errorf("fair: Config.Slots is %d, it must be 1 to %d", cfg.Slots, maxSlots)
	}
	if min(cfg.MaxWaiting, cfg.MaxWaitingOfShare) < 0 || cfg.Slice < 0 {
		return errors.New("fair: Config.MaxWaiting, MaxWaitingOfShare and Slice must not be negative")
	}
	cfg.MaxWaiting = cmp.Or(cfg.MaxWaiting, defaultMaxWaiting)
	cfg.MaxWaitingOfShare = cmp.Or(cfg.MaxWaitingOfShare, defaultMaxWaitingOfShare)
	cfg.Slice = cmp.Or(cfg.Slice, defaultSlice)
	if cfg.Waited == nil {
		cfg.Waited = func(time.Duration) {}
	}
	return nil
}

// A Queue has the slots. It is safe for concurrent use. It needs no closing: it has no goroutine, and no timer when no turn has
// waited for 50 ms.
type Queue struct {
	// fixed at creation
	cfg   Config
	made  time.Time
	slots []slot

	waiting atomic.Int64  // turns in lines
	busy    atomic.Bool   // turns wait, or waited shortly before: the queue counts what shares use
	epoch   atomic.Uint64 // how often busy was set

	mu      sync.Mutex // guards the fields below, and fields of slots, shares and turns; no Task is called under it
	ready   readyShares
	weights int64         // of the shares in ready
	virtual float64       // the most that a share has paid that was served
	timer   *time.Timer   // runs look; nil while busy is false
	calm    time.Duration // since when no turn waits; 0 while one does
}

// A slot holds the turn that keeps a processor busy; nil if it is free. It has a cache line of its own.
type slot struct {
	turn atomic.Pointer[Turn]

	seen  *Turn         // for which began was set; guarded by Queue.mu
	began time.Duration // guarded by Queue.mu
	_     [40]byte
}

// New makes a Queue.
func New(cfg Config) (*Queue, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	return &Queue{cfg: cfg, made: time.Now(), slots: make([]slot, cfg.Slots)}, nil
}

// Stats says how full a Queue is.
type Stats struct {
	Slots, Running, Waiting int
}

// Stats returns how full the queue is now.
func (q *Queue) Stats() Stats {
	s := Stats{Slots: len(q.slots), Waiting: int(q.waiting.Load())}
	for i := range q.slots {
		if q.slots[i].turn.Load() != nil {
			s.Running++
		}
	}
	return s
}

// now returns the time since the queue was made; never 0.
func (q *Queue) now() time.Duration { return max(time.Since(q.made), 1) }

// claim gives a turn a free slot, if there is one. It looks first at the one that its share had last, which no other processor may
// have in its cache.
func (q *Queue) claim(t *Turn) bool {
	i := t.share.last.Load()
	for range q.slots {
		at := &q.slots[i].turn
		if at.Load() == nil && at.CompareAndSwap(nil, t) {
			t.slot.Store(i)
			if t.share.last.Load() != i {
				t.share.last.Store(i)
			}
			return true
		}
		if i++; int(i) == len(q.slots) {
			i = 0
		}
	}
	return false
}

// vacate frees the slot that a turn had last, if it has that one still.
func (q *Queue) vacate(t *Turn) bool {
	return q.slots[t.slot.Load()].turn.CompareAndSwap(t, nil)
}

// vacateLocked frees the slot of a turn, if it has one.
func (q *Queue) vacateLocked(t *Turn) {
	for i := range q.slots {
		if q.slots[i].turn.CompareAndSwap(t, nil) {
			return
		}
	}
}

// dispatchLocked gives the free slots to the shares with the lowest tags, and has turns paused for shares that are behind. The
// caller calls tell on each turn that it returns, without mu.
func (q *Queue) dispatchLocked(now time.Duration) (told []*Turn) {
	for len(q.ready) > 0 {
		t := q.firstLocked().firstLocked()
		if !q.claim(t) {
			told = q.preemptLocked(now, told)
			break
		}
		told = q.beginLocked(t, now, told)
	}
	q.watchLocked(now)
	return told
}

// firstLocked returns the share with the lowest tag of those with waiting turns.
func (q *Queue) firstLocked() *Share {
	for {
		s := q.ready[0]
		if !s.settleLocked() {
			return s
		}
	}
}

// beginLocked has a waiting turn begin that has a slot. It returns told, with the turn if that was paused.
func (q *Queue) beginLocked(t *Turn, now time.Duration, told []*Turn) []*Turn {
	q.virtual = max(q.virtual, t.share.paid)
	q.removeLocked(t, now)
	taken := &q.slots[t.slot.Load()]
	taken.seen, taken.began = t, now
	if t.waits {
		t.waits = false
		t.reserveLocked()
		t.granted <- struct{}{} // it has room
	}
	if t.paused.Swap(false) {
		return append(told, t)
	}
	return told
}

// enqueueLocked puts a turn at the end of a line of its share.
func (q *Queue) enqueueLocked(t *Turn, kind int, now time.Duration) {
	s := t.share
	q.beginBusyLocked(now)
	s.settleLocked()
	t.since.Store(int64(now))
	s.lines[kind].push(t)
	q.waiting.Add(1)
	if s.index < 0 {
		s.paid = max(s.paid, q.virtual)
		s.counted = int64(s.weight.Load())
		q.weights += s.counted
		heap.Push(&q.ready, s)
	}
}

// removeLocked takes a turn from the line of its share.
func (q *Queue) removeLocked(t *Turn, now time.Duration) {
	s := t.share
	t.line.remove(t)
	t.waited.Add(int64(now) - t.since.Swap(0))
	q.waiting.Add(-1)
	if s.firstLocked() == nil {
		heap.Remove(&q.ready, s.index)
		q.weights -= s.counted
	}
}

// beginBusyLocked begins to count what shares use, since a turn must wait.
func (q *Queue) beginBusyLocked(now time.Duration) {
	if q.busy.Load() {
		return
	}
	q.epoch.Add(1)
	q.busy.Store(true)
	for i := range q.slots {
		if t := q.slots[i].turn.Load(); t != nil {
			q.slots[i].seen, q.slots[i].began = t, now
			t.meter.charge()
		}
	}
}

// watchLocked has look run from now on, until no turn has waited for a while.
func (q *Queue) watchLocked(now time.Duration) {
	switch {
	case !q.busy.Load():
		return
	case q.waiting.Load() == 0 && q.calm == 0:
		q.calm = now
	case q.waiting.Load() > 0 && q.calm != 0:
		q.calm = 0
		q.timer.Reset(q.cfg.Slice / 4)
	}
	if q.timer == nil {
		q.timer = time.AfterFunc(q.cfg.Slice/4, q.look)
	}
}

// look charges the turns that run, and has those paused that must give their slots to others. It ends the counting when no turn
// has waited for a while.
func (q *Queue) look() {
	q.mu.Lock()
	now := q.now()
	q.chargeRunningLocked(now)
	told := q.dispatchLocked(now)
	switch {
	case q.waiting.Load() > 0:
		q.timer.Reset(q.cfg.Slice / 4)
	case now-q.calm >= lingers:
		q.busy.Store(false)
		q.timer, q.calm = nil, 0
	default:
		q.timer.Reset(lingers)
	}
	q.mu.Unlock()
	tell(told)
}

// chargeRunningLocked charges the turns that run with what they have used until now.
func (q *Queue) chargeRunningLocked(now time.Duration) {
	for i := range q.slots {
		t := q.slots[i].turn.Load()
		if t == nil {
			continue
		}
		if q.slots[i].seen != t {
			q.slots[i].seen, q.slots[i].began = t, now
		}
		if t.meter != nil {
			t.meter.charge()
			t.dropReserveLocked() // it pays as it goes
		}
	}
}

// readyShares is a heap of the shares with waiting turns, by their tags.
type readyShares []*Share

func (r readyShares) Len() int           { return len(r) }
func (r readyShares) Less(i, j int) bool { return r[i].tag() < r[j].tag() }

func (r readyShares) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].index, r[j].index = i, j
}

// Push implements [heap.Interface].
func (r *readyShares) Push(x any) {
	s := x.(*Share)
	s.index = len(*r)
	*r = append(*r, s)
}

// Pop implements [heap.Interface].
func (r *readyShares) Pop() any {
	last := len(*r) - 1
	s := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	s.index = -1
	return s
}
