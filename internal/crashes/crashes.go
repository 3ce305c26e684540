// Package crashes keeps what is known of the crashes of tenants' providers: a report of each different one, with counts and,
// where calls are recorded, a recorded session of one of them.
//
// A crash is told apart from others by its provider, the digest of the module, the code and the functions on top of the stack.
// Each report is a file, which is replaced in one step, so that a process that is killed leaves no half of one.
package crashes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/throttle"
)

// A Report is what is known of one crash and of all like it.
type Report struct {
	ID       string    `json:"id"` // 16 hex digits
	Tenant   string    `json:"tenant"`
	Provider string    `json:"provider"`
	Digest   string    `json:"digest"` // of the module
	Code     string    `json:"code"`   // as in "trap"
	Reason   string    `json:"reason,omitempty"`
	Op       string    `json:"operation"`     // of the last call
	URI      string    `json:"uri,omitempty"` // of the last call; empty where URIs are not kept
	Stack    []Frame   `json:"stack,omitempty"`
	Lines    []string  `json:"lastLines,omitempty"` // logged last by the guest
	Fuel     uint64    `json:"fuel"`                // of the call that is recorded, or else of the last one
	Memory   uint64    `json:"memory"`              // of the guest, in bytes
	Count    uint64    `json:"count"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Session  int       `json:"sessionBytes,omitempty"` // of the recorded session; 0 for none
	Inexact  string    `json:"inexact,omitempty"`      // why the session may end elsewhere when it is run again
}

// A Frame is a function that was running.
type Frame struct {
	Function uint32 `json:"function"` // its index in the module
	Name     string `json:"name,omitempty"`
}

// A Maker makes a recorded session with a comment, and says why it may end elsewhere. Its text is nil for none.
type Maker func(comment string) (text []byte, inexact string)

// Bounds of what is kept of one tenant, and of what waits to be written.
const (
	MaxReports = 100
	MaxBytes   = 32 << 20 // of recorded sessions
	topFrames  = 8        // tell crashes apart
	maxPending = 8        // recorded sessions that are not made yet, of all tenants
	maxWaiting = 2 * MaxReports
	maxText    = 4 << 10 // bytes of one text in a report
)

// Config configures a Store. Dir is required.
type Config struct {
	// Dir has a folder for each tenant, as tenants/ID. The reports of a tenant are in its folder crashes.
	Dir    string
	Logger *slog.Logger // nil discards
}

// A Store keeps the crashes of all tenants. It is safe for concurrent use. The caller closes it.
type Store struct {
	// fixed at creation
	cfg     Config
	errors  *throttle.Log
	wake    chan struct{} // holds one token when there is something to write
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when the writer has ended

	files sync.Mutex // held while files of reports are read or written; taken before mu

	mu      sync.Mutex // guards the fields below; not held over I/O
	tenants map[string]*book
	pending int    // Makers that wait
	dropped uint64 // crashes that were not counted
	closed  bool
}

// A book has the reports of one tenant.
type book struct {
	tenant string
	known  map[string]*entry // by ID
	loaded bool              // the files are among known
	dirty  bool
}

// An entry is one report. Its count is that of the file and added ones.
type entry struct {
	report Report
	maker  Maker // of a session that is not made yet; nil for none
	dirty  bool
}

// Open makes a Store. It reads the files of a tenant when they are first needed.
func Open(cfg Config) (*Store, error) {
	if cfg.Dir == "" {
		return nil, fmt.Errorf("crashes: Config.Dir is required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		cfg: cfg, errors: throttle.New(cfg.Logger), wake: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}), tenants: map[string]*book{},
	}
	go s.write()
	return s, nil
}

// Add counts a crash: Tenant, Provider, Digest, Code and Stack say which; the Store sets ID, Count, First, Last, Session and
// Inexact. session may be nil. Add never waits for a disk. It does nothing after Close.
func (s *Store) Add(r Report, session Maker) {
	r.ID, r.Count, r.First, r.Last, r.Session, r.Inexact = idOf(&r), 1, time.Now().UTC(), time.Now().UTC(), 0, ""
	r.clip()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	b := s.bookLocked(r.Tenant)
	e := b.known[r.ID]
	if e == nil {
		if len(b.known) >= maxWaiting {
			s.dropped++
			return
		}
		e = &entry{report: r}
		b.known[r.ID] = e
	} else {
		e.count(&r)
	}
	if session != nil && e.report.Session == 0 && e.maker == nil && s.pending < maxPending {
		s.pending++
		e.maker = session
	}
	e.dirty, b.dirty = true, true
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// count adds a crash that is like the others of e.
func (e *entry) count(r *Report) {
	is := &e.report
	is.Count += r.Count
	if r.Last.After(is.Last) {
		is.Last, is.Op, is.URI, is.Lines = r.Last, r.Op, r.URI, r.Lines
		if is.Session == 0 && e.maker == nil {
			is.Fuel, is.Memory = r.Fuel, r.Memory
		}
	}
	if r.First.Before(is.First) {
		is.First = r.First
	}
	if is.Session == 0 && r.Session > 0 {
		is.Session, is.Inexact, is.Fuel, is.Memory = r.Session, r.Inexact, r.Fuel, r.Memory
	}
}

func (s *Store) bookLocked(tenant string) *book {
	b := s.tenants[tenant]
	if b == nil {
		b = &book{tenant: tenant, known: map[string]*entry{}}
		s.tenants[tenant] = b
	}
	return b
}

// idOf returns the ID of a crash, which is the same for all like it.
func idOf(r *Report) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q", r.Tenant, r.Provider, r.Digest, r.Code)
	for _, f := range r.Stack[:min(len(r.Stack), topFrames)] {
		fmt.Fprintf(h, " %d", f.Function)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// clip bounds the texts of r, which come from guests and clients.
func (r *Report) clip() {
	for _, text := range []*string{&r.Reason, &r.URI} {
		*text = (*text)[:min(len(*text), maxText)]
	}
}

// Close writes what is not written yet. It is called once.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	close(s.closing)
	<-s.ended
	s.errors.Close()
	return nil
}
