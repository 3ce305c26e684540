package quota

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/atomicfile"
	"github.com/wasmres/wasmres/internal/tenant"
)

const (
	saveInterval = 10 * time.Second
	maxFile      = 32 << 20 // bytes; one of 100,000 tenants has 8 MiB
	fileVersion  = 1
)

// Used is what a tenant has used today.
type Used struct {
	CPU   time.Duration `json:"cpu"`   // of its providers
	Bytes int64         `json:"bytes"` // of answers
}

// A file is what a Book stores.
type file struct {
	Version int `json:"version"`
	day
	// Others are those days of which the file was before, the last first: the clock may be set back to one of them.
	Others []day `json:"others,omitempty"`
}

// A day has what tenants have used.
type day struct {
	Day     string          `json:"day"` // in UTC, as 2026-11-23
	Tenants map[string]Used `json:"tenants"`
}

// maxOthers bounds the other days of a file.
const maxOthers = 2

// of returns the file as that of a day: what it says of that day, and of others.
func (f file) of(name string) file {
	all := append([]day{f.day}, f.Others...)
	f = file{Version: fileVersion, day: day{Day: name}}
	for _, d := range all {
		switch {
		case d.Day == name:
			f.day = d
		case d.Day != "" && len(f.Others) < maxOthers:
			f.Others = append(f.Others, d)
		}
	}
	return f
}

// A Book has the Tenants of a server by ID. It stores what they have used today in a file, every 10 seconds: after the process
// was killed, what was used in that time is not counted. It is safe for concurrent use. The caller closes it.
type Book struct {
	// fixed at creation
	path   string
	logger *slog.Logger
	stop   context.CancelFunc
	done   chan struct{} // closed when the goroutine that saves has ended

	mu       sync.Mutex // guards the fields below
	tenants  map[string]*Tenant
	earlier  day // what the file said of today, less the tenants that were asked for since
	saved    file
	saveErr  string // that was logged last; empty for none
	endClose sync.Once
	closeErr error
}

// OpenBook makes a Book that stores in the file at path. What the file says of today counts as used; a file that is wrong is
// logged and replaced. An error is one of reading. A nil logger discards.
func OpenBook(path string, logger *slog.Logger) (*Book, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	stored, err := read(path)
	if invalid := (*invalidError)(nil); errors.As(err, &invalid) {
		logger.Warn("usage of today discarded: the file is not one of usage", "file", path, "err", err)
	} else if err != nil {
		return nil, fmt.Errorf("read usage of tenants: %w", err)
	}
	b := &Book{path: path, logger: logger, done: make(chan struct{}), tenants: map[string]*Tenant{}, saved: stored}
	of := stored.of(today())
	b.earlier = day{of.Day, maps.Clone(of.Tenants)}
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	go b.saveRegularly(ctx)
	return b, nil
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// An invalidError is one of what a file says.
type invalidError struct{ err error }

func (e *invalidError) Error() string { return e.err.Error() }

// read reads a file of usage; there may be none.
func read(path string) (f file, err error) {
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return f, err
	}
	return decode(text)
}

// decode reads the text of a file. The error is an invalidError.
func decode(text []byte) (f file, err error) {
	if len(text) > maxFile {
		return file{}, &invalidError{fmt.Errorf("it has more than %d bytes", maxFile)}
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return file{}, &invalidError{err}
	}
	if f.Version != fileVersion {
		return file{}, &invalidError{fmt.Errorf("its version is %d, expected %d", f.Version, fileVersion)}
	}
	for _, d := range append([]day{f.day}, f.Others...) {
		for id, u := range d.Tenants {
			if u.CPU < 0 || u.Bytes < 0 {
				return file{}, &invalidError{fmt.Errorf("the usage of tenant %.64q is negative", id)}
			}
		}
	}
	return f, nil
}

// Tenant returns the Tenant with that ID, with a plan from now on. It makes one if there is none.
func (b *Book) Tenant(id string, plan *tenant.Plan) *Tenant {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tenants[id]; t != nil {
		t.Set(plan)
		return t
	}
	t := New(plan)
	if used, ok := b.earlier.Tenants[id]; ok && b.earlier.Day == today() {
		t.cpu.Store(int64(used.CPU))
		t.sent.Store(used.Bytes)
		delete(b.earlier.Tenants, id)
	}
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
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil:
		b.saveErr = ""
	case err.Error() != b.saveErr:
		b.saveErr = err.Error()
		b.logger.Error("usage of tenants not stored: after a restart they could use their budgets again", "err", err)
	}
}

// save writes the file, unless it says the same already.
func (b *Book) save() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.presentLocked()
	if f.Day == b.saved.Day && maps.Equal(f.Tenants, b.saved.Tenants) {
		return nil
	}
	text, err := json.Marshal(&f)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(b.path, text, 0o600); err != nil {
		return err
	}
	b.saved = f
	return nil
}

// presentLocked is what the tenants have used today; those that have used nothing are left out.
func (b *Book) presentLocked() file {
	f := b.saved.of(today())
	f.Tenants = map[string]Used{}
	if b.earlier.Day == f.Day {
		maps.Copy(f.Tenants, b.earlier.Tenants)
	}
	for id, t := range b.tenants {
		if u := t.Today(); u != (Used{}) {
			f.Tenants[id] = u
		}
	}
	return f
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
