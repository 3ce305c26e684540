package compiler_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
)

// A module whose children are killed again waits for longer each time.
func TestAModuleThatIsKilledAgainWaitsForLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := compiler.NewKilled()
		for _, seconds := range []time.Duration{5, 10, 20, 40, 80, 160, 320, 600, 600} {
			wait := seconds * time.Second
			waits(t, k.Add(1), wait)
			time.Sleep(wait / 2)
			waits(t, k.Err(1), wait/2)
			time.Sleep(wait / 2)
			if err := errors.Join(k.Err(1), k.Err(2)); err != nil {
				t.Errorf("after %v, and of another module: %v", wait, err)
			}
		}
	})
}

// waits checks that an error says when to try again.
func waits(t *testing.T, err error, wait time.Duration) {
	t.Helper()
	if e := (*abi.Error)(nil); !errors.As(err, &e) || e.Code != abi.CodeUnavailable || e.RetryAfter != wait {
		t.Errorf("got %#v, want unavailable, retry after %v", e, wait)
	}
}

// Few modules are remembered: those that wait for longest.
func TestKilledModulesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := compiler.NewKilled()
		_, _ = k.Add(0), k.Add(0)
		for i := range 3000 {
			time.Sleep(time.Millisecond)
			waits(t, k.Add(1+i), 5*time.Second)
		}
		if n := k.Len(); n != 1024 {
			t.Errorf("%d modules are remembered, want 1024", n)
		}
		if k.Err(0) == nil || k.Err(1) != nil || k.Err(3000) == nil {
			t.Errorf("got %v, %v and %v, want that the second was forgotten", k.Err(0), k.Err(1), k.Err(3000))
		}
	})
}
