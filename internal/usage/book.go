package usage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	flushInterval = 10 * time.Second
	flushTime     = 30 * time.Second // to write
	forgetAfter   = 360              // flushes without a request
)

// A Key says of what a row is. A row without a provider has the requests of clients, one with a provider the calls of that.
type Key struct {
	Tenant, Provider string
	Version          int // 0 for a provider with a module, which has none
}

// An Outcome is how a request or call has ended.
type Outcome int

// The outcomes.
const (
	OK      Outcome = iota
	Refused         // what was asked is not there, not allowed, or makes no sense
	Limited         // a limit refused it, for a time
	Failed          // by a fault of the provider
	outcomes
)

// Totals are what was used.
type Totals struct {
	Requests [outcomes]uint64 // by outcome; in a row with a provider, calls of it
	Fuel     uint64
	CPU      time.Duration // of guests
	Starts   uint64        // of processes
	Bytes    uint64        // of answers; in a row with a provider, of contents
	// Live is the time of processes, and Memory the memory of their own that they used, times for how long, in byte-seconds. It is
	// looked at every ten seconds, and counts with the most that a process used for one that has ended meanwhile.
	Live   time.Duration
	Memory uint64
	Peak   uint64 // most bytes that one process used; sums of Totals have the highest
	// Stored is the most that a tenant had on disk, in rows without a provider; sums of Totals have the highest of each kind.
	// StoredTime is all of it times for how long, in byte-seconds.
	Stored     Storage
	StoredTime uint64
}

// A Storage is what a tenant has on disk, in bytes.
type Storage struct {
	Modules uint64 // of versions
	KV      uint64 // values by key
	Files   uint64 // in its folder of files
	Logs    uint64 // what its providers have logged, and reports of crashes
}

func (s *Storage) all() uint64 { return s.Modules + s.KV + s.Files + s.Logs }

func (t *Totals) add(o *Totals) {
	for i := range t.Requests {
		t.Requests[i] += o.Requests[i]
	}
	t.Fuel += o.Fuel
	t.CPU += o.CPU
	t.Starts += o.Starts
	t.Bytes += o.Bytes
	t.Live += o.Live
	t.Memory += o.Memory
	t.Peak = max(t.Peak, o.Peak)
	t.Stored = Storage{
		max(t.Stored.Modules, o.Stored.Modules), max(t.Stored.KV, o.Stored.KV), max(t.Stored.Files, o.Stored.Files), max(t.Stored.Logs, o.Stored.Logs),
	}
	t.StoredTime += o.StoredTime
}

// Config says where a Book is. File is required.
type Config struct {
	File   string           // a SQLite file, which Open makes if there is none
	Logger *slog.Logger     // nil discards
	Now    func() time.Time // gives the time; nil is for [time.Now]
}

// A Book counts. It is safe for concurrent use. The caller closes it.
type Book struct {
	// fixed at creation
	cfg  Config
	db   *sql.DB
	stop chan struct{} // closed by Close
	done chan struct{} // closed when the writer has ended

	mu       sync.RWMutex
	counters map[Key]*Counter    // of tenants; guarded by mu
	meters   map[*Meter]struct{} // of open providers; guarded by mu
	closed   map[hourKey]*Totals // of meters that were closed since the last flush; guarded by mu

	flushing sync.Mutex          // held while rows are written
	seq      uint64              // of the newest flush that is on disk
	since    time.Time           // when the newest flush began
	fresh    map[hourKey]*Totals // that are not written
	unsure   map[hourKey]*Totals // of a flush that has failed, as far as is known; nil for none
	failing  bool

	closeOnce sync.Once
	closeErr  error
}

// An hourKey is a Key in an hour.
type hourKey struct {
	Key
	hour int64 // in seconds since 1970
}

// Open opens the book of a file. ctx bounds only the opening.
func Open(ctx context.Context, c Config) (*Book, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	b := &Book{
		cfg: c, stop: make(chan struct{}), done: make(chan struct{}), counters: map[Key]*Counter{}, meters: map[*Meter]struct{}{},
		closed: map[hourKey]*Totals{}, fresh: map[hourKey]*Totals{}, since: c.Now(),
	}
	var err error
	if b.db, b.seq, err = openFile(ctx, c.File); err != nil {
		return nil, fmt.Errorf("open usage %s: %w", c.File, err)
	}
	go b.write()
	return b, nil
}

// A Counter counts the requests of one tenant.
type Counter struct {
	mu     sync.Mutex
	totals Totals // since the last flush
	idle   int    // flushes without a request
	gone   bool   // the Book has forgotten it

	measured time.Time // when Store was called last; zero for never
}

// Request counts a request of a client, and the bytes of its answer.
func (b *Book) Request(tenant string, o Outcome, bytes int64) {
	for !b.counter(Key{Tenant: tenant}).request(o, bytes) {
	}
}

func (c *Counter) request(o Outcome, bytes int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return false
	}
	c.totals.Requests[o]++
	c.totals.Bytes += uint64(max(bytes, 0))
	return true
}

// StoreInterval is how often a Book should be told what a tenant has on disk.
const StoreInterval = 10 * time.Minute

// Store says what a tenant has on disk now. It counts for the time since it was called last, at most twice StoreInterval.
func (b *Book) Store(tenant string, s Storage) {
	for !b.counter(Key{Tenant: tenant}).store(s, b.cfg.Now()) {
	}
}

func (c *Counter) store(s Storage, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return false
	}
	past := time.Duration(0)
	if !c.measured.IsZero() {
		past = min(max(now.Sub(c.measured), 0), 2*StoreInterval)
	}
	c.measured = now
	c.totals.add(&Totals{Stored: s, StoredTime: uint64(float64(s.all()) * past.Seconds())})
	return true
}

func (b *Book) counter(k Key) *Counter {
	b.mu.RLock()
	c := b.counters[k]
	b.mu.RUnlock()
	if c != nil {
		return c
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c = b.counters[k]; c == nil {
		c = &Counter{}
		b.counters[k] = c
	}
	return c
}

// Processes are those of a provider: see [Totals].
type Processes struct {
	Starts uint64        // since the provider was opened
	Live   time.Duration // since the provider was opened
	Memory uint64        // since the provider was opened
	Peak   uint64        // since the call before
}

// A Live returns the processes of a provider.
type Live func() Processes

// A Meter counts what one open provider uses. The caller closes it.
type Meter struct {
	book *Book
	key  Key
	live Live

	mu     sync.Mutex
	totals Totals    // since the last flush
	seen   Processes // that were counted
}

// Meter begins to count what a provider uses.
func (b *Book) Meter(k Key, live Live) *Meter {
	m := &Meter{book: b, key: k, live: live}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.meters[m] = struct{}{}
	return m
}

// Call counts a call.
func (m *Meter) Call(o Outcome, fuel uint64, cpu time.Duration, bytes uint64) {
	m.mu.Lock()
	m.totals.Requests[o]++
	m.totals.Fuel += fuel
	m.totals.CPU += max(cpu, 0)
	m.totals.Bytes += bytes
	m.mu.Unlock()
}

// CPU counts processor time that no call is to have, as that of a second run.
func (m *Meter) CPU(cpu time.Duration) {
	m.mu.Lock()
	m.totals.CPU += max(cpu, 0)
	m.mu.Unlock()
}

// take returns what was used since it was called last.
func (m *Meter) take() Totals {
	now := m.live()
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.totals
	m.totals = Totals{}
	t.Peak = now.Peak
	if now.Starts >= m.seen.Starts && now.Live >= m.seen.Live && now.Memory >= m.seen.Memory { // another call of take may have seen more
		t.Starts += now.Starts - m.seen.Starts
		t.Live += now.Live - m.seen.Live
		t.Memory += now.Memory - m.seen.Memory
		m.seen = now
	}
	return t
}

// Close counts what is left. No Call may follow. It is idempotent.
func (m *Meter) Close() {
	b := m.book
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, isOpen := b.meters[m]; !isOpen {
		return
	}
	delete(b.meters, m)
	t := m.take()
	addTo(b.closed, hourKey{m.key, b.hour()}, &t)
}

// hour returns the hour to which the counts since the last flush belong. Flushes begin with each hour. The caller holds mu, which
// the flush holds to set it.
func (b *Book) hour() int64 { return b.since.Truncate(time.Hour).Unix() }

func addTo(rows map[hourKey]*Totals, k hourKey, t *Totals) {
	if *t == (Totals{}) {
		return
	}
	if rows[k] == nil {
		rows[k] = &Totals{}
	}
	rows[k].add(t)
}

// collect moves what was counted to fresh. The caller holds flushing.
func (b *Book) collect() {
	b.mu.Lock()
	hour, now := b.hour(), b.cfg.Now()
	b.since = now
	for k, t := range b.closed {
		addTo(b.fresh, k, t)
	}
	clear(b.closed)
	meters := slices.Collect(maps.Keys(b.meters))
	b.mu.Unlock()
	for _, m := range meters { // which asks the system for their memory
		t := m.take()
		addTo(b.fresh, hourKey{m.key, hour}, &t)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.counters, func(k Key, c *Counter) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.totals == (Totals{}) {
			c.idle++
			c.gone = c.idle > forgetAfter
			return c.gone
		}
		addTo(b.fresh, hourKey{k, hour}, &c.totals)
		c.totals, c.idle = Totals{}, 0
		return false
	})
}

// Flush writes what was counted until now. After an error it is written by a later flush.
func (b *Book) Flush(ctx context.Context) error {
	b.flushing.Lock()
	defer b.flushing.Unlock()
	b.collect()
	if err := b.settle(ctx); err != nil {
		return err
	}
	if len(b.fresh) == 0 {
		return nil
	}
	if err := writeRows(ctx, b.db, b.fresh, b.seq); err != nil {
		b.unsure, b.fresh = b.fresh, map[hourKey]*Totals{}
		return err
	}
	b.seq++
	b.fresh = map[hourKey]*Totals{}
	return nil
}

// settle finds out whether the last flush, which has failed, is on disk all the same: nothing may be counted twice.
func (b *Book) settle(ctx context.Context) error {
	if b.unsure == nil {
		return nil
	}
	seq, err := readSeq(ctx, b.db)
	if err != nil {
		return err
	}
	if seq == b.seq {
		for k, t := range b.unsure {
			addTo(b.fresh, k, t)
		}
	}
	b.seq, b.unsure = seq, nil
	return nil
}

// write is the goroutine that flushes, every ten seconds and at the beginning of each hour.
func (b *Book) write() {
	defer close(b.done)
	last := time.Time{} // when old rows were removed
	for {
		now := b.cfg.Now()
		next := min(flushInterval, now.Truncate(time.Hour).Add(time.Hour).Sub(now))
		select {
		case <-b.stop:
			return
		case <-time.After(max(next, time.Millisecond)):
		}
		b.flush()
		if now := b.cfg.Now(); now.Sub(last) > 24*time.Hour {
			last = now
			b.prune(now)
		}
	}
}

func (b *Book) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	err := b.Flush(ctx)
	if err != nil && !b.failing {
		b.cfg.Logger.Error("usage cannot be written, it is kept and tried again every ten seconds", "file", b.cfg.File, "err", err)
	} else if err == nil && b.failing {
		b.cfg.Logger.Info("usage can be written again", "file", b.cfg.File)
	}
	b.failing = err != nil
}

// prune removes rows that are too old.
func (b *Book) prune(now time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	b.flushing.Lock()
	defer b.flushing.Unlock()
	if err := removeOld(ctx, b.db, now); err != nil {
		b.cfg.Logger.Warn("old usage not removed", "file", b.cfg.File, "err", err)
	}
}

// Close writes what is left, and closes the file. It is idempotent.
func (b *Book) Close() error {
	b.closeOnce.Do(func() {
		close(b.stop)
		<-b.done
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		b.closeErr = errors.Join(b.Flush(ctx), b.db.Close())
	})
	return b.closeErr
}
