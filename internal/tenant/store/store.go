package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/wasmres/wasmres/internal/filelock"
	"github.com/wasmres/wasmres/internal/tenant"
)

// Config says where a Store is.
type Config struct {
	// Dir is the folder of the server's data, in which the Store makes its files. Open makes it. Other users of the machine
	// must not have access to it.
	Dir    string
	Logger *slog.Logger     // nil discards
	Now    func() time.Time // gives the time; nil is for [time.Now]
	Record Recorder         // records changes; nil is for none
	// Committed gets how long each change took to be stored and recorded. It must not block. Nil discards.
	Committed func(took time.Duration)
}

// A Recorder records each change before it is in force. The Store calls its methods one at a time, in the order of the changes.
type Recorder interface {
	// Record records a change, which the Store has written but not committed. After an error the change is not made. ctx has
	// the values of Apply's, but no end.
	Record(ctx context.Context, c *tenant.Change, before, after *tenant.Snapshot) error
	// Undo records that the change that was recorded last is not in force, because of an error.
	Undo(before *tenant.Snapshot, err error)
}

// A Store is a [tenant.Store] in a file.
type Store struct {
	// fixed at creation
	dir, file  string
	logger     *slog.Logger
	now        func() time.Time
	recorder   Recorder // nil is for none
	committed  func(took time.Duration)
	version    int // of the tables
	lock       *os.File
	db         *sql.DB
	statements statements
	requests   chan request
	closing    chan struct{} // closed by Close
	done       chan struct{} // closed when the writer has ended

	current atomic.Pointer[tenant.Snapshot]

	mu      sync.Mutex
	changed chan struct{} // closed when there is another generation, and replaced

	// owned by the writer
	state  *state
	copied uint64 // generation of the last copy; 0 for none

	closeOnce sync.Once
	closeErr  error
}

var _ tenant.Store = (*Store)(nil)

// Open opens the store of a folder, and makes it if there is none. An error says what is wrong with the file, and which copy
// can take its place; Open does not change a damaged file. ctx bounds only the opening. The caller calls Close.
func Open(ctx context.Context, c Config) (*Store, error) { return open(ctx, c, migrations) }

func open(ctx context.Context, c Config, steps []string) (*Store, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{
		dir: dir, file: filepath.Join(dir, "serve.db"), logger: c.Logger, now: c.Now, recorder: c.Record, committed: c.Committed, version: len(steps),
		requests: make(chan request), closing: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}),
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.committed == nil {
		s.committed = func(time.Duration) {}
	}
	if err := s.open(ctx, steps); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", s.file, s.explain(err)), s.closeFiles())
	}
	go s.write()
	return s, nil
}

func (s *Store) open(ctx context.Context, steps []string) (err error) {
	if err := makePrivate(s.dir); err != nil {
		return err
	}
	if s.lock, err = lock(filepath.Join(s.dir, "serve.lock")); err != nil {
		return err
	}
	if err := makeFile(s.file); err != nil {
		return err
	}
	if s.db, err = sql.Open("sqlite", source(s.file)); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	backup := func(version int) error { return s.backup(ctx, version) }
	if err := migrate(ctx, s.db, steps, backup); err != nil {
		return err
	}
	if s.state, err = load(ctx, s.db); err != nil {
		return err
	}
	s.current.Store(s.state.snapshot)
	return s.statements.prepare(ctx, s.db)
}

// source returns the data source name of a file.
func source(file string) string {
	settings := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			"busy_timeout(2000)", "journal_mode(wal)", "synchronous(full)", "journal_size_limit(4194304)",
			"trusted_schema(off)", "cell_size_check(on)",
		},
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(file), RawQuery: settings.Encode()}).String()
}

// Close ends the writer, after the change that it is making, and closes the file. It is idempotent.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		close(s.closing)
		<-s.done
		s.closeErr = s.closeFiles()
	})
	return s.closeErr
}

// closeFiles closes what was opened. The lock is the last.
func (s *Store) closeFiles() error {
	var problems []error
	if s.db != nil {
		problems = append(problems, s.db.Close())
	}
	if s.lock != nil {
		problems = append(problems, filelock.Close(s.lock))
	}
	return errors.Join(problems...)
}

// Snapshot implements [tenant.Store].
func (s *Store) Snapshot() *tenant.Snapshot { return s.current.Load() }

// Apply implements [tenant.Store].
func (s *Store) Apply(ctx context.Context, c tenant.Change) (uint64, error) {
	p, err := prepare(&c)
	if err != nil {
		return 0, err
	}
	return s.do(ctx, func() (uint64, error) { return s.apply(context.WithoutCancel(ctx), p) })
}

// SetLastUsed implements [tenant.Store].
func (s *Store) SetLastUsed(ctx context.Context, days map[string]time.Time) error {
	days = maps.Clone(days)
	_, err := s.do(ctx, func() (uint64, error) { return 0, s.setLastUsed(days) })
	return err
}

// Watch implements [tenant.Store].
func (s *Store) Watch(ctx context.Context) iter.Seq[*tenant.Snapshot] {
	return func(yield func(*tenant.Snapshot) bool) {
		var last *tenant.Snapshot
		for {
			changed := s.nextChange() // before the Snapshot, so that no change is missed
			if now := s.Snapshot(); last == nil || now.Generation != last.Generation {
				if last = now; ctx.Err() != nil || !yield(now) {
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			case <-s.closing:
				return
			}
		}
	}
}

func (s *Store) nextChange() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// publish makes a state the present one, and wakes the callers of Watch if it has another generation.
func (s *Store) publish(next *state) {
	isChange := next.snapshot.Generation != s.state.snapshot.Generation
	s.state = next
	s.current.Store(next.snapshot)
	if !isChange {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}
