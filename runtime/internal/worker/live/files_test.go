package live_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
)

// lender has files for some workers.
type lender struct{ most, workers atomic.Int64 }

func newLender(most int64) *lender {
	l := &lender{}
	l.most.Store(most)
	return l
}

func (l *lender) Lend(workers int) bool {
	l.workers.Store(int64(workers))
	return int64(workers) <= l.most.Load()
}

// A start waits for files that others have, and is refused in time.
func TestAStartWaitsForFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := newLender(2)
		g := group(t, live.Config{Files: files})
		all := providers(t, g, 2)
		late := &provider{group: g, bytes: 10, takes: time.Second}
		var e *abi.Error
		const text = "the provider cannot be started now: the connections of clients need all files that may be open"
		if err := late.start(within(t, time.Second)); !errors.As(err, &e) || e.Message != text || e.RetryAfter <= 0 || files.workers.Load() != 2 {
			t.Errorf("got %v with files for %d, want: %s", err, files.workers.Load(), text)
		}
		began := time.Now()
		time.AfterFunc(time.Minute-time.Millisecond, func() { files.most.Store(3) }) // before the start looks again
		if err := late.start(within(t, time.Hour)); err != nil || time.Since(began) != time.Minute || files.workers.Load() != 3 {
			t.Errorf("started after %v, %v, with files for %d", time.Since(began), err, files.workers.Load())
		}
		all[0].rest()
		all[0].Stop()
		time.Sleep(time.Second)
		synctest.Wait()
		if files.workers.Load() != 2 {
			t.Errorf("files are lent for %d workers, want 2", files.workers.Load())
		}
	})
}
