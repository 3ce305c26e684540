package quota

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/atomicfile"
	"github.com/wasmres/wasmres/internal/tenant"
)

const saveInterval = 10 * time.Second

// Used is what a tenant has used today.
type Used struct {
	CPU   time.Duration `json:"cpu"`   // of its providers
	Bytes int64         `json:"bytes"` // of answers
}

// plus adds what is not negative.
func (u Used) plus(more Used) Used {
	sum := Used{CPU: u.CPU + more.CPU, Bytes: u.Bytes + more.Bytes}
	if sum.CPU < 0 {
		sum.CPU = math.MaxInt64
	}
	if sum.Bytes < 0 {
		sum.Bytes = math.MaxInt64
	}
	return sum
}

// A Book has the Tenants of a server by ID. It stores what they have used today in a file, every 10 seconds: after the process
// was killed, what was used in that time is not counted. It is safe for concurrent use. The caller closes it.
type Book struct {
	// fixed at creation
	path   string
	write  func(path string, text []byte, mode fs.FileMode) error // replaces the file
	logger *slog.Logger
	stop   context.CancelFunc
	done   chan struct{} // closed when the goroutine that saves has ended

	saveErr string // that was logged last; empty for none; of the goroutine that saves

	mu       sync.Mutex // guards the fields below
	calendar *calendar
	tenants  map[string]*Tenant
	today    day   // with those tenants alone that were not asked for: what the file said of them
	others   []day // as in a file
	saved    file
	endClose sync.Once
	closeErr error
}

// Config says where a Book is. File is required.
type Config struct {
	File   string           // which OpenBook makes if there is none
	Now    func() time.Time // the clock of the system; nil is for [time.Now]
	Logger *slog.Logger     // nil discards
}

// OpenBook makes a Book that stores in a file. What the file says of today counts as used; a file that is wrong is logged and
// replaced. An error is one of reading.
func OpenBook(cfg Config) (*Book, error) { return openBook(cfg, atomicfile.Write) }

func openBook(cfg Config, write func(path string, text []byte, mode fs.FileMode) error) (*Book, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	stored, err := read(cfg.File)
	if invalid := (*invalidError)(nil); errors.As(err, &invalid) {
		cfg.Logger.Warn("usage of today discarded: the file is not one of usage", "file", cfg.File, "err", err)
	} else if err != nil {
		return nil, fmt.Errorf("read usage of tenants: %w", err)
	}
	b := &Book{
		path: cfg.File, write: write, logger: cfg.Logger, done: make(chan struct{}), calendar: newCalendar(cfg.Now), tenants: map[string]*Tenant{},
		saved: stored,
	}
	b.today = day{Day: b.calendar.name}
	b.today.Tenants, b.others = split(append([]day{stored.day}, stored.Others...), b.today.Day)
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	go b.saveRegularly(ctx)
	return b, nil
}

// Tenant returns the Tenant with that ID, with a plan from now on. It makes one if there is none.
func (b *Book) Tenant(id string, plan *tenant.Plan) *Tenant {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tenants[id]; t != nil {
		t.Set(plan)
		return t
	}
	b.lookLocked()
	t := newTenant(plan, b.calendar.began, b.look)
	t.midnight.Store(b.calendar.end)
	t.add(b.today.Tenants[id])
	delete(b.today.Tenants, id)
	b.tenants[id] = t
	return t
}

func (b *Book) saveRegularly(ctx context.Context) {
	defer close(b.done)
	tick := time.NewTicker(saveInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			b.report(b.save())
		}
	}
}

// report logs a failure to save once.
func (b *Book) report(err error) {
	switch {
	case err == nil:
		b.saveErr = ""
	case err.Error() != b.saveErr:
		b.saveErr = err.Error()
		b.logger.Error("usage of tenants not stored: after a restart they could use their budgets again", "err", err)
	}
}

// save writes the file, unless it says the same already. Two goroutines must not call it at once: Close does when the other one has
// ended. It does not hold b.mu while it writes: all requests after a midnight need that lock, and do not wait for a disk.
func (b *Book) save() error {
	f, saved := b.unsaved()
	if saved {
		return nil
	}
	text, err := json.Marshal(&f)
	if err != nil {
		return err
	}
	if err := b.write(b.path, text, 0o600); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.saved = f
	return nil
}

// unsaved returns what the file has to say, and whether it says so already. What it returns does not change.
func (b *Book) unsaved() (f file, saved bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lookLocked()
	f = file{Version: fileVersion, day: b.presentLocked(), Others: b.others}
	return f, f.Day == b.saved.Day && maps.Equal(f.Tenants, b.saved.Tenants)
}

// Close stores what was used. It is idempotent.
func (b *Book) Close() error {
	b.endClose.Do(func() {
		b.stop()
		<-b.done
		b.closeErr = b.save()
	})
	return b.closeErr
}
