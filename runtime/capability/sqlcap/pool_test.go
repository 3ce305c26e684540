package sqlcap

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// A stubborn driver opens a session when hold is closed, whatever its context says. Its sessions count themselves.
type stubborn struct {
	hold <-chan struct{}
	open atomic.Int32
}

func (d *stubborn) Connect(context.Context) (database.Session, error) {
	<-d.hold
	d.open.Add(1)
	return &counted{of: d}, nil
}

type counted struct {
	instant
	of *stubborn
}

func (c *counted) Close() error {
	c.of.open.Add(-1)
	return nil
}

func newStubborn() (*stubborn, *pool, func()) {
	hold := make(chan struct{})
	d := &stubborn{hold: hold}
	return d, newPool(d, Limits{Sessions: 2, Wait: time.Second}, false), func() { close(hold) }
}

// A call ends in time even if a helper takes long to start. Until that has ended, it counts.
func TestAcquireEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p, goOn := newStubborn()
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			began := time.Now()
			_, _, err := p.acquire(ctx)
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != time.Second/2 {
				t.Errorf("got %v after %v", err, took)
			}
			cancel()
		}
		if _, _, err := p.acquire(t.Context()); err == nil {
			t.Error("a third session, of two")
		}
		goOn()
		synctest.Wait()
		if d.open.Load() != 0 || len(p.slots) != 0 {
			t.Errorf("%d sessions are open, %d slots in use", d.open.Load(), len(p.slots))
		}
		s, _, err := p.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.release(s)
		if err := p.close(); err != nil || d.open.Load() != 0 {
			t.Errorf("closed: %d sessions are open, %v", d.open.Load(), err)
		}
	})
}

func TestIdleSessionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p, goOn := newStubborn()
		goOn()
		both := make([]database.Session, 2)
		for i := range both {
			var err error
			if both[i], _, err = p.acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(want int32) {
			t.Helper()
			synctest.Wait()
			if n := d.open.Load(); n != want {
				t.Errorf("%d sessions are open, want %d", n, want)
			}
		}
		p.release(both[0])
		time.Sleep(idleTime / 2)
		p.release(both[1])
		time.Sleep(idleTime/2 - time.Nanosecond)
		expect(2)
		time.Sleep(time.Nanosecond)
		expect(1)
		s, used, err := p.acquire(t.Context()) // and it is new when it is idle again
		if err != nil || !used {
			t.Fatal(used, err)
		}
		p.release(s)
		time.Sleep(idleTime - time.Nanosecond)
		expect(1)
		time.Sleep(time.Nanosecond)
		expect(0)
	})
}
