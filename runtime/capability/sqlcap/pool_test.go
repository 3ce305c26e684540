package sqlcap

import (
	"context"
	"errors"
	"os"
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

// A dialing driver ends at the deadline of its context as a dialer does, by a timer of its own.
type dialing struct{}

func (dialing) Connect(ctx context.Context) (database.Session, error) {
	end, _ := ctx.Deadline()
	time.Sleep(time.Until(end))
	return nil, os.ErrDeadlineExceeded
}

// A lateContext does not say yet that its deadline has passed.
type lateContext struct{ context.Context }

func (lateContext) Err() error            { return nil }
func (lateContext) Done() <-chan struct{} { return nil }

// A driver that notices the end of the call before the call's context does has not found the database out of reach.
func TestADeadlineIsNoUnreachableDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		p := newPool(dialing{}, Limits{Sessions: 1, Wait: time.Second}, true)
		if _, _, err := p.acquire(lateContext{ctx}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end of the call", err)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
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
