// Package guestlog keeps what the guests of tenants log: the newest lines in memory, for operators who look now, and more of
// them in a file of each tenant.
//
// Lines are escaped when they come, so that nothing a guest writes steers a terminal. A disk that is slow or full delays no call:
// lines that cannot be written are dropped, and counted in the file.
package guestlog

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/throttle"
)

// Bounds.
const (
	RingBytes    = 256 << 10 // of one tenant's lines in memory
	totalBytes   = 64 << 20  // of those of all tenants; beyond it, the lines of tenants that were quiet for longest go
	waitingBytes = 256 << 10 // of one tenant's lines that are not written yet
	maxText      = 2 << 10   // bytes of one text
	DefaultFile  = 20 << 20  // bytes of the files of one tenant
)

// A Line is one that a guest has logged, or written to its standard output or error.
type Line struct {
	Time     time.Time
	Level    slog.Level
	Provider string
	Text     string // without control characters
}

// size is what a line takes in memory, about.
func (l *Line) size() int { return len(l.Text) + len(l.Provider) + 64 }

// Append appends the line as files and operators see it.
func (l *Line) Append(b []byte) []byte {
	b = l.Time.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(append(append(b, ' '), l.Level.String()...), ' ')
	b = append(append(b, l.Provider...), ": "...)
	return append(append(b, l.Text...), '\n')
}

// Config configures a Book. Dir is required.
type Config struct {
	// Dir has a folder for each tenant, as tenants/ID. Its lines are in log/guests.log there, and older ones in guests.log.1.
	Dir string
	// MaxFile returns the most bytes of both files of a tenant. Nil, and zero, are DefaultFile.
	MaxFile func(tenant string) int64
	Logger  *slog.Logger // nil discards
}

// A Book has the lines of all tenants. It is safe for concurrent use. The caller closes it.
type Book struct {
	// fixed at creation
	cfg     Config
	errors  *throttle.Log
	wake    chan struct{} // holds one token when lines wait to be written
	closing chan struct{}
	ended   chan struct{} // closed when the writer has ended

	mu     sync.Mutex // guards the fields below; not held over I/O
	rings  map[string]*ring
	total  int // bytes of all lines in memory
	closed bool
}

// A ring has the newest lines of a tenant.
type ring struct {
	lines   []Line
	first   uint64 // number of the first of lines; those of a tenant are numbered from 0
	bytes   int
	last    time.Time
	changed chan struct{} // closed at the next line; nil while nothing waits

	waiting []byte // lines to be written
	dropped uint64 // lines for which waiting had no room
}

// Open makes a Book without lines in memory.
func Open(cfg Config) (*Book, error) {
	if cfg.Dir == "" {
		return nil, errors.New("guestlog: Config.Dir is required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Book{
		cfg: cfg, errors: throttle.New(cfg.Logger), wake: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}),
		rings: map[string]*ring{},
	}
	go b.write()
	return b, nil
}

// Add adds a line of a tenant's provider. It never waits for a disk or a reader.
func (b *Book) Add(tenant string, l Line) {
	l.Text = printable.Line(l.Text[:min(len(l.Text), maxText)])
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	r := b.ringLocked(tenant)
	r.lines, r.last = append(r.lines, l), l.Time
	r.bytes += l.size()
	b.total += l.size()
	for r.bytes > RingBytes {
		b.dropLocked(r)
	}
	if b.total > totalBytes {
		b.evictLocked(r)
	}
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
	if len(r.waiting)+l.size() > waitingBytes {
		r.dropped++
		return
	}
	r.waiting = l.Append(r.waiting)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *Book) ringLocked(tenant string) *ring {
	r := b.rings[tenant]
	if r == nil {
		r = &ring{}
		b.rings[tenant] = r
	}
	return r
}

// dropLocked forgets the first line of a ring.
func (b *Book) dropLocked(r *ring) {
	size := r.lines[0].size()
	r.lines[0] = Line{}
	r.lines = r.lines[1:]
	r.first++
	r.bytes -= size
	b.total -= size
}

// evictLocked forgets the lines of the tenant that was quiet for longest, but not those of a ring.
func (b *Book) evictLocked(but *ring) {
	var quiet *ring
	for _, r := range b.rings {
		if r != but && r.bytes > 0 && (quiet == nil || r.last.Before(quiet.last)) {
			quiet = r
		}
	}
	for quiet != nil && len(quiet.lines) > 0 {
		b.dropLocked(quiet)
	}
}

// A Reader reads the lines of one tenant. It belongs to one goroutine.
type Reader struct {
	book   *Book
	tenant string
	next   uint64 // number of the line to read
}

// Reader returns a Reader that begins with the oldest line in memory.
func (b *Book) Reader(tenant string) *Reader {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &Reader{book: b, tenant: tenant}
	if of := b.rings[tenant]; of != nil {
		r.next = of.first
	}
	return r
}

// Read returns the lines that have come, and how many before them the Reader was too slow for. It returns none if there are none
// yet.
func (r *Reader) Read() (lines []Line, missed uint64) {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	of := r.book.rings[r.tenant]
	if of == nil {
		return nil, 0
	}
	if r.next < of.first {
		missed, r.next = of.first-r.next, of.first
	}
	lines = append(lines, of.lines[r.next-of.first:]...)
	r.next += uint64(len(lines))
	return lines, missed
}

// Wait returns when Read has a line, or with an error when ctx or the Book has ended.
func (r *Reader) Wait(ctx context.Context) error {
	r.book.mu.Lock()
	of := r.book.ringLocked(r.tenant)
	if of.first+uint64(len(of.lines)) > r.next {
		r.book.mu.Unlock()
		return nil
	}
	if of.changed == nil {
		of.changed = make(chan struct{})
	}
	changed := of.changed
	r.book.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.book.closing:
		return errors.New("the server is ending")
	}
}

// Close writes what is not written yet, and ends waiting Readers. It is called once.
func (b *Book) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	close(b.closing)
	<-b.ended
	b.errors.Close()
	return nil
}
