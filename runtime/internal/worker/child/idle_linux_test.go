package child_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/worker/child"
)

func TestMemoryIsReleasedOnceAfterTheLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := 0
		note := child.NewIdleTimer(func() { released++ })
		for i := range 3 {
			for range 5 { // a call comes before each time that it looks
				note()
				time.Sleep(child.IdleAfter)
				synctest.Wait()
			}
			if released != i {
				t.Fatalf("released %d times while calls came, want %d", released, i)
			}
			time.Sleep(5 * child.IdleAfter)
			synctest.Wait()
			if released != i+1 {
				t.Fatalf("released %d times after the calls, want %d", released, i+1)
			}
		}
	})
}

func TestACallDuringTheReleaseIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var note func()
		released := 0
		note = child.NewIdleTimer(func() {
			if released++; released == 1 {
				note()
			}
		})
		note()
		time.Sleep(10 * child.IdleAfter)
		synctest.Wait()
		if released != 2 {
			t.Errorf("released %d times, want 2", released)
		}
	})
}
