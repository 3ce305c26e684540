package sqlite_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

// mayUse returns how many processors a thread may use; 0 is the calling thread.
func mayUse(t *testing.T, thread int) int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(thread, &set); err != nil {
		t.Fatal(err)
	}
	return set.Count()
}

// A helper answers a quick statement on the processor of the call; during a slow one it may use all.
func TestAHelperSharesTheProcessorOfAQuickCall(t *testing.T) {
	processors := mayUse(t, 0)
	if processors == 1 {
		t.Skip("there is one processor")
	}
	s := connect(t, open(t, makeFile(t)))
	quick := func() {
		t.Helper()
		if _, err := all(t.Context(), s, time.Minute, "select name from users"); err != nil {
			t.Fatal(err)
		}
		if got := mayUse(t, 0); got != processors {
			t.Errorf("after a call its thread may use %d processors, want %d", got, processors)
		}
	}
	quick()
	for tries := 0; mayUse(t, sqlite.PID(s)) != 1; tries++ { // a busy machine, or a garbage collection, makes a statement slow
		if tries == 1000 {
			t.Fatal("quick statements do not move the helper")
		}
		quick()
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := all(ctx, s, time.Minute, "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c")
		ended <- err
	}()
	for mayUse(t, sqlite.PID(s)) == 1 {
		select {
		case err := <-ended:
			t.Fatalf("a statement without an end has ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the call was cancelled", err)
	}
}
