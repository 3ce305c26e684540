package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// Config bounds a group. Zero fields bound nothing.
type Config struct {
	Max int // workers that run or start
	// Memory is how much memory the workers of the group may use before another starts, in bytes, as they say it. It does not
	// bound how much they use later.
	Memory          int64 // reservations count
	StartsPerMinute int   // in the long run; as many at once after a minute without starts
	// Within is a group in which the workers of this one count as well. Set does not change it.
	Within *Group
	Files  Files // that workers share with others; nil for enough. Set does not change it

	OnStart func(took time.Duration, cold bool) // see Place.Started; it must not block; nil discards
	OnEnd   func(why End)                       // receives the end of each worker that was started; it must not block; nil discards
}

func (cfg *Config) check() error {
	if cfg.Max < 0 || cfg.Memory < 0 || cfg.StartsPerMinute < 0 {
		return fmt.Errorf("bounds of live providers must not be negative: %d processes, %d bytes, %d starts per minute",
			cfg.Max, cfg.Memory, cfg.StartsPerMinute)
	}
	return nil
}

// Files are those that this process may have open.
type Files interface {
	// Lend says how many workers there are, or are about to be, and reports whether there are files for all. Others give back what they do
	// not use.
	Lend(workers int) bool
}

// An End says why a worker has ended.
type End string

// The ends.
const (
	Idle    End = "idle"    // it was not called for long
	Evicted End = "evicted" // another worker needed its place
	Crashed End = "crashed" // it ended by itself, was killed, or did not start
	Closed  End = "closed"  // its provider was closed
)

// A Member is a provider whose workers belong to a group. It is safe for concurrent use. No method may block.
type Member interface {
	// Unused returns for how long the running worker was not called. It is not ok if it must not be stopped now.
	Unused() (idle time.Duration, ok bool)
	// Stop stops the running worker, unless it must not be stopped now. It does not wait for the end.
	Stop() bool
	// Memory returns how much memory the running worker uses, or a new one is expected to use, in bytes.
	Memory() int64
}

// A Group has workers with common bounds. A start enters it and waits for its turn; while the group is full, the group
// stops a worker that is unused: see evictLocked. It is safe for concurrent use. It needs no closing.
type Group struct {
	// fixed at creation
	within *Group
	files  Files // nil for enough

	crowded atomic.Int32 // starts that wait

	mu      sync.Mutex // guards the fields below; Members are called under it
	cfg     Config
	places  map[*Place]struct{}
	waiting []*waiter // in the order of their turn
	tokens  float64   // of StartsPerMinute
	filled  time.Time // when tokens was computed
	refill  *time.Timer
	stats   Stats

	reservations map[*waiter]struct{} // that were granted and not released

	peak int64 // most memory of one worker since TakePeak was called last
}

// Stats counts what has happened in a group, and what is now.
type Stats struct {
	Live, Starting, Waiting int    // workers now; starts that wait
	Starts, Evictions       uint64 // workers that were ready; of all that ended, those that another one needed the place of
	Ends                    uint64
	StartTime               time.Duration // of all starts
	LastStart               time.Time     // when a worker became ready last; zero for never
	Memory                  int64         // of all workers, in bytes, as they say it
	LiveTime                time.Duration // of all workers that were ready, until now
	MemoryTime              uint64        // memory of all workers times for how long they used it, in byte-seconds: see Place.Peak
}

// A waiter is a start that waits for its turn, or a reservation.
type waiter struct {
	member  Member // nil for a reservation
	bytes   int64  // of a reservation
	seldom  bool   // of a reservation
	owner   any
	reason  bound
	granted chan *Place // of one, which is nil for a reservation
}

// needs returns how much memory a waiter is expected to use, in bytes.
func (w *waiter) needs() int64 {
	if w.member == nil {
		return w.bytes
	}
	return w.member.Memory()
}

// A bound is what a start waits for.
type bound int

const (
	none bound = iota
	number
	memory
	rate
	reservations
	files
)

// New makes a group.
func New(cfg Config) (*Group, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Group{within: cfg.Within, files: cfg.Files, cfg: cfg, places: map[*Place]struct{}{}, reservations: map[*waiter]struct{}{}, tokens: float64(cfg.StartsPerMinute), filled: time.Now()}, nil
}

// Set changes the bounds. Workers that run go on; fewer start until they are within the bounds.
func (g *Group) Set(cfg Config) error {
	if err := cfg.check(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cfg.StartsPerMinute == 0 {
		g.tokens = float64(cfg.StartsPerMinute)
	}
	g.cfg = cfg
	g.dispatchLocked()
	return nil
}

// Within returns the group in which the workers of this one count as well; nil for none.
func (g *Group) Within() *Group { return g.within }

// Stats returns the counts.
func (g *Group) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.accountLocked()
	s := g.stats
	s.Live, s.Starting, s.Waiting = 0, 0, len(g.waiting)
	for p := range g.places {
		if p.started {
			s.Live++
		} else {
			s.Starting++
		}
	}
	s.Memory = g.usedLocked()
	return s
}

// accountLocked counts the memory of all workers until now.
func (g *Group) accountLocked() {
	now := time.Now()
	for p := range g.places {
		if p.started {
			g.countLocked(p, now, p.member.Memory())
		}
	}
}

// countLocked counts that a worker has used so many bytes since it was counted last.
func (g *Group) countLocked(p *Place, now time.Time, bytes int64) {
	past := max(now.Sub(p.counted), 0)
	p.counted = now
	g.stats.LiveTime += past
	g.stats.MemoryTime += uint64(float64(max(bytes, 0)) * past.Seconds())
	g.peak = max(g.peak, bytes)
}

// TakePeak returns the most memory that one worker has used since it was called last, in bytes: as those say it that run, and the
// peaks of those that have ended.
func (g *Group) TakePeak() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.accountLocked()
	peak := g.peak
	g.peak = 0
	return peak
}

// Enter waits for the turn of a start, until ctx ends. The caller must call Leave of the place. owner is comparable, and the same for
// all workers of one owner; nil is one, too. The error is that of Refusal.
func (g *Group) Enter(ctx context.Context, m Member, owner any) (*Place, error) {
	return g.wait(ctx, &waiter{member: m, owner: owner, granted: make(chan *Place, 1)})
}

// wait waits until a waiter has what it waits for.
func (g *Group) wait(ctx context.Context, w *waiter) (*Place, error) {
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	g.crowded.Add(1)
	g.dispatchLocked()
	g.mu.Unlock()
	select {
	case p := <-w.granted:
		return p, nil
	case <-ctx.Done():
		return g.leaveQueue(w, context.Cause(ctx))
	}
}

// leaveQueue ends the wait of a start, which may have got its place meanwhile.
func (g *Group) leaveQueue(w *waiter, cause error) (*Place, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case p := <-w.granted:
		return p, nil
	default:
	}
	err := g.refusalLocked(w).Because(cause)
	g.waiting = slices.DeleteFunc(g.waiting, func(other *waiter) bool { return other == w })
	g.crowded.Add(-1)
	g.lendLocked(len(g.places)) // no longer for this one
	g.dispatchLocked()
	return nil, err
}

// Refusal returns the error of a call that no longer waits for a start of m: [abi.CodeUnavailable] with the time to
// retry after, which says what the start waits for. It is nil if no start of m waits.
func (g *Group) Refusal(m Member) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.waiting {
		if w.member == m {
			return g.refusalLocked(w)
		}
	}
	return nil
}

func (g *Group) refusalLocked(w *waiter) *abi.Error {
	text, after := "other providers start first", time.Second
	switch w.reason {
	case number:
		text = "too many providers are in use"
	case memory:
		text = "the providers in use need all memory there is for them"
	case rate:
		text, after = "too many providers were started lately", g.untilTokenLocked()
	case files:
		text = "the connections of clients need all files that may be open"
	case reservations:
		text = "those that are being loaded need all memory there is for that"
	}
	what := "the provider cannot be started now"
	if w.member == nil {
		what = "the provider cannot be loaded now"
	}
	e := abi.Errorf(abi.CodeUnavailable, "%s: %s", what, text)
	e.RetryAfter = after
	return e
}

// Stop stops the workers that their members may stop now, and returns how many. It does not wait for their ends.
func (g *Group) Stop() (stopped int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.places {
		if p.started && p.member.Stop() {
			stopped++
		}
	}
	return stopped
}

// Released tells the group that a member is no longer used: a start may wait for its place.
func (g *Group) Released() {
	if g.crowded.Load() == 0 { // a start that comes to wait later sees that the member is unused
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dispatchLocked()
}

// dispatchLocked gives places to the starts whose turn it is, and memory to reservations. While the next of them finds none, it has
// a worker stopped. A reservation that finds none to stop lets the others pass, and so does a start that lacks something but memory: other
// starts lack that as well.
func (g *Group) dispatchLocked() {
	var passed map[*waiter]bool
	for {
		next := g.nextLocked(passed)
		if next < 0 {
			return
		}
		w := g.waiting[next]
		if w.reason = g.boundLocked(w); w.reason == none && w.member != nil && !g.lendLocked(len(g.places)+1) {
			w.reason = files
		}
		isBlocked := false // others may not have what it waits for
		switch w.reason {
		case none:
			g.waiting = slices.Delete(g.waiting, next, next+1)
			g.crowded.Add(-1)
			w.granted <- g.admitLocked(w)
			continue
		case rate:
			g.awaitLocked(g.untilTokenLocked())
		case files:
			g.awaitLocked(filesRetry)
		case number:
			g.evictLocked(w)
		case memory:
			isBlocked = g.evictLocked(w) || w.member != nil
		}
		if isBlocked {
			return
		}
		if passed == nil {
			passed = map[*waiter]bool{}
		}
		passed[w] = true
		if w.member == nil {
			continue
		}
		for _, other := range g.waiting { // starts lack the same
			if other.member != nil {
				passed[other] = true
			}
		}
	}
}

// filesRetry is how often a start looks for files that connections have given back.
const filesRetry = 10 * time.Millisecond

// lendLocked has files lent for so many workers, and reports whether there are enough.
func (g *Group) lendLocked(workers int) bool { return g.files == nil || g.files.Lend(workers) }

// admitLocked makes the place of a start; nil for a reservation.
func (g *Group) admitLocked(w *waiter) *Place {
	if w.member == nil {
		g.reservations[w] = struct{}{}
		return nil
	}
	g.tokens--
	p := &Place{group: g, member: w.member, owner: w.owner}
	g.places[p] = struct{}{}
	return p
}

// nextLocked returns the index of the waiter whose turn it is: the first one of an owner that does not exceed its share by it, or else
// the first reservation, which lets others pass, or else the first start. Those that were passed have no turn. It is -1 for none.
func (g *Group) nextLocked(passed map[*waiter]bool) int {
	first := slices.IndexFunc(g.waiting, func(w *waiter) bool { return !passed[w] })
	if first < 0 || len(g.waiting) == 1 || g.boundLocked(g.waiting[first]) == rate {
		return first
	}
	shares, next := g.sharesLocked(nil), first
	for i, w := range g.waiting {
		switch {
		case passed[w]:
		case !shares.isExceeded(w.owner, w):
			return i
		case w.member == nil && g.waiting[next].member != nil:
			next = i
		}
	}
	return next
}

// boundLocked returns what keeps a waiter from its place or its memory.
func (g *Group) boundLocked(w *waiter) bound {
	isStart := w.member != nil
	switch {
	case isStart && g.cfg.Max > 0 && len(g.places) >= g.cfg.Max:
		return number
	case !isStart && !g.mayReserveLocked(w):
		return reservations
	case g.cfg.Memory > 0 && len(g.places)+len(g.reservations) > 0 && g.usedLocked()+g.reservedLocked()+w.needs() > g.cfg.Memory:
		return memory
	case isStart && g.cfg.StartsPerMinute > 0 && g.fillLocked() < 1:
		return rate
	}
	return none
}

func (g *Group) usedLocked() (bytes int64) {
	for p := range g.places {
		bytes += p.member.Memory()
	}
	return bytes
}

// fillLocked returns the tokens there are now.
func (g *Group) fillLocked() float64 {
	now, most := time.Now(), float64(g.cfg.StartsPerMinute)
	g.tokens = min(most, g.tokens+most*now.Sub(g.filled).Minutes())
	g.filled = now
	return g.tokens
}

// untilTokenLocked returns when there is a token, at least 1 ms.
func (g *Group) untilTokenLocked() time.Duration {
	missing := max(0, 1-g.fillLocked())
	return max(time.Millisecond, time.Duration(missing/float64(g.cfg.StartsPerMinute)*float64(time.Minute)).Round(time.Millisecond))
}

// awaitLocked has the starts looked at again after a while.
func (g *Group) awaitLocked(d time.Duration) {
	if g.refill == nil {
		g.refill = time.AfterFunc(d, g.refilled)
	}
}

func (g *Group) refilled() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refill = nil
	g.dispatchLocked()
}

// longRest is for how long a worker is unused before it is stopped for any other one, of any owner.
const longRest = 30 * time.Second

// evictLocked stops a worker for a start or a reservation, unless one that was stopped for this is still ending. First comes one that
// was unused for longRest; then, if the owner exceeds its share by it, one of its own; then one whose owner exceeds its share, or its own;
// of several the one that was unused for longest. Only an owner that does not exceed its share by it has others stopped, or one that
// reserves seldom. So an owner that wants more than its share makes its own workers come and go, and no others. evictLocked reports
// whether a worker is ending.
func (g *Group) evictLocked(w *waiter) (isEnding bool) {
	type candidate struct {
		place *Place
		idle  time.Duration
		order int
	}
	var all []candidate
	shares := g.sharesLocked(w)
	isExceeded, rested := shares.isExceeded(w.owner, w), time.Duration(-1) // of those that may not be stopped yet
	for p := range g.places {
		if p.evicted {
			return true
		}
		idle, ok := p.member.Unused()
		switch {
		case !ok || !p.started:
		case idle >= longRest:
			all = append(all, candidate{p, idle, 0})
		case isExceeded && p.owner == w.owner:
			all = append(all, candidate{p, idle, 1})
		case p.owner == w.owner || shares.isExceeded(p.owner, nil):
			all = append(all, candidate{p, idle, 2})
		case !isExceeded || w.seldom:
			all = append(all, candidate{p, idle, 3})
		default:
			rested = max(rested, idle)
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(b.idle, a.idle)) })
	for _, c := range all {
		if c.place.member.Stop() {
			c.place.evicted = true
			g.stats.Evictions++
			return true
		}
	}
	if rested >= 0 {
		g.awaitLocked(longRest - rested)
	}
	return false
}

// shares say what each owner has of a group: all may have the same.
type shares struct {
	max    int   // workers of the group; 0 for no bound
	memory int64 // of the group; 0 for no bound
	of     map[any]*share
}

type share struct {
	workers int
	bytes   int64
}

// sharesLocked returns the shares of the owners of workers, of reservations, and of all that wait, or of one that waits alone.
func (g *Group) sharesLocked(w *waiter) shares {
	s := shares{max: g.cfg.Max, memory: g.cfg.Memory, of: map[any]*share{}}
	for p := range g.places {
		of := s.at(p.owner)
		of.workers++
		if s.memory > 0 {
			of.bytes += p.member.Memory()
		}
	}
	for r := range g.reservations {
		s.at(r.owner).bytes += r.bytes
	}
	if w != nil {
		s.at(w.owner)
		return s
	}
	for _, w := range g.waiting {
		s.at(w.owner)
	}
	return s
}

func (s shares) at(owner any) *share {
	if s.of[owner] == nil {
		s.of[owner] = &share{}
	}
	return s.of[owner]
}

// isExceeded reports whether an owner has more than its share, with what one waiter more is about to have unless that is nil.
func (s shares) isExceeded(owner any, more *waiter) bool {
	of := *s.at(owner)
	if more != nil && more.member != nil {
		of.workers++
	}
	if more != nil && s.memory > 0 {
		of.bytes += more.needs()
	}
	return s.max > 0 && of.workers*len(s.of) > s.max || s.memory > 0 && of.bytes > s.memory/int64(len(s.of))
}

// A Place is that of one worker in a group, from before its start until it has ended.
type Place struct {
	// fixed at creation
	group  *Group
	member Member
	owner  any

	started, evicted, left bool // guarded by the group's mu, as the fields below

	counted time.Time // until when its memory is counted
	peak    int64     // of its worker, which has ended; zero if unknown
}

// Peak says how much memory the worker has used at most, in bytes, before Leave says that it has ended. The time since its memory was
// looked at last, which may be all of a short life, counts with that.
func (p *Place) Peak(bytes int64) {
	p.group.mu.Lock()
	defer p.group.mu.Unlock()
	p.peak = bytes
}

// Started says that the worker is ready, how long the start took, and whether it was cold: for a caller, after a stop.
func (p *Place) Started(took time.Duration, cold bool) {
	g := p.group
	g.mu.Lock()
	p.started, p.counted = true, time.Now()
	g.stats.Starts++
	g.stats.LastStart = p.counted
	g.peak = max(g.peak, p.member.Memory())
	g.stats.StartTime += took
	onStart := g.cfg.OnStart
	g.mu.Unlock()
	if onStart != nil {
		onStart(took, cold)
	}
}

// Leave gives the place back when the worker has ended, or has not started. It is idempotent.
func (p *Place) Leave(why End) {
	g := p.group
	g.mu.Lock()
	if p.left {
		g.mu.Unlock()
		return
	}
	p.left = true
	if p.evicted && why == Idle {
		why = Evicted
	}
	if p.started {
		bytes := p.peak
		if bytes <= 0 {
			bytes = p.member.Memory()
		}
		g.countLocked(p, time.Now(), bytes)
	}
	delete(g.places, p)
	g.lendLocked(len(g.places))
	onEnd := g.cfg.OnEnd
	if !p.started {
		onEnd = nil
	} else {
		g.stats.Ends++
	}
	g.dispatchLocked()
	g.mu.Unlock()
	if onEnd != nil {
		onEnd(why)
	}
}
