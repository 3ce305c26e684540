package sqlite_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

func TestStartsAreHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p sqlite.StartLimit
		began := time.Now()
		for range 20 {
			if err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.Count()
		}
		if took := time.Since(began); took != 11*250*time.Millisecond {
			t.Errorf("20 helpers that end at once take %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that is over: got %v", err)
		}
		time.Sleep(time.Minute)
		began = time.Now()
		if err := p.Wait(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("after a minute it waits %v, %v", time.Since(began), err)
		}
	})
}
