package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// A Driver opens sessions with one database file, each in a helper process of its own. It is safe for concurrent use.
// It must be closed.
type Driver struct {
	// Fixed at creation.
	path    string // absolute
	cfg     database.Config
	program string // of helpers; empty for the running program

	startLimit startLimit

	mu      sync.Mutex
	closed  bool                 // guarded by mu, as is helpers
	helpers map[*helper]struct{} // whose processes have not exited
}

// New makes a driver for a database file. Its sessions need a program that calls [Main].
func New(path string, cfg database.Config) (*Driver, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return &Driver{path: path, cfg: cfg, helpers: map[*helper]struct{}{}}, nil
}

// Connect implements [database.Driver]. It starts a helper. After many failed helpers it waits: see startLimit.
func (d *Driver) Connect(ctx context.Context) (database.Session, error) {
	if isChild() {
		return nil, errors.New("sqlite: this process was started as a helper, but its main does not call sqlite.Main")
	}
	if err := d.startLimit.wait(ctx); err != nil {
		return nil, err
	}
	h, err := d.start()
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	if err := h.open(ctx); err != nil {
		_ = h.Close() // the helper is killed
		return nil, err
	}
	return h, nil
}

// track records a helper until its process has exited, or kills it when the driver is closed.
func (d *Driver) track(h *helper) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		h.process.Kill()
		return abi.Errorf(abi.CodeUnavailable, "the host is closing")
	}
	d.helpers[h] = struct{}{}
	go func() {
		<-h.process.Done()
		d.mu.Lock()
		delete(d.helpers, h)
		d.mu.Unlock()
	}()
	return nil
}

// closeTime bounds how long Close waits for killed helpers: one may be reading from a slow disk.
const closeTime = 2 * time.Second

// Close kills all helpers, so that running statements fail, and waits up to closeTime for their exit. It is idempotent.
func (d *Driver) Close() error {
	d.mu.Lock()
	d.closed = true
	var all []*helper
	for h := range d.helpers {
		all = append(all, h)
	}
	d.mu.Unlock()
	for _, h := range all {
		h.process.Kill()
	}
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	for _, h := range all {
		select {
		case <-h.process.Done():
		case <-timer.C:
			return errors.New("sqlite: a helper process was killed and has not ended")
		}
	}
	return nil
}

const (
	startBurst = 8                      // failed helpers that delay nothing
	startEvery = 250 * time.Millisecond // between two starts after that
)

// A startLimit delays the start of helpers after many have failed, so that guests cannot make the host start processes all the
// time. The zero value delays nothing. It is safe for concurrent use.
type startLimit struct {
	mu   sync.Mutex
	free time.Time // when starts are no longer delayed; guarded by mu
}

// count counts a failed helper.
func (p *startLimit) count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(startEvery)
}

// wait returns when a helper may be started, or with the error of ctx.
func (p *startLimit) wait(ctx context.Context) error {
	p.mu.Lock()
	left := time.Until(p.free.Add(-startBurst * startEvery))
	p.mu.Unlock()
	if left <= 0 {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
