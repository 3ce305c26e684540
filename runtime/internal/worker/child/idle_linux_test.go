package child_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/worker/child"
)

func TestMemoryIsReleasedOnceAfterTheLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released atomic.Int32
		note := child.NewIdleTimer(func() { released.Add(1) })
		for i := range int32(3) {
			for range 5 { // a call comes before each time that it looks
				note()
				time.Sleep(child.IdleAfter)
				synctest.Wait()
			}
			if got := released.Load(); got != i {
				t.Fatalf("released %d times while calls came, want %d", got, i)
			}
			time.Sleep(5 * child.IdleAfter)
			synctest.Wait()
			if got := released.Load(); got != i+1 {
				t.Fatalf("released %d times after the calls, want %d", got, i+1)
			}
		}
	})
}

func TestACallDuringTheReleaseIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var note func()
		var released atomic.Int32
		note = child.NewIdleTimer(func() {
			if released.Add(1) == 1 {
				note()
			}
		})
		note()
		time.Sleep(10 * child.IdleAfter)
		synctest.Wait()
		if got := released.Load(); got != 2 {
			t.Errorf("released %d times, want 2", got)
		}
	})
}
