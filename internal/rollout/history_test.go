package rollout_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/rollout"
	"github.com/wasmres/wasmres/runtime/resource"
)

// The history of a trial has a bound, however long it lasts, and loses no call.
func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trial := never(t)
		s := newSource(t, &fake{name: "stable"}, rollout.Canary{Provider: "notes", Version: 2, Share: 100, Source: &fake{name: "canary"}, Trial: trial})
		for calls, past := 0, time.Duration(0); past < 3*time.Hour; past += 7 * time.Second {
			if _, err := s.List(t.Context(), &resource.Request{Session: "a"}); err != nil {
				t.Fatal(err)
			}
			calls++
			length, steps := trial.History()
			sum := 0
			for _, step := range steps {
				sum += int(step.Canary.Calls)
			}
			if sum != calls || len(steps) > 48 || len(steps) != int(past/length)+1 || length > max(10*time.Second, past/23) {
				t.Fatalf("after %v: %d steps of %v with %d of %d calls", past, len(steps), length, sum, calls)
			}
			time.Sleep(7 * time.Second)
		}
		time.Sleep(1000 * time.Hour)
		if length, steps := trial.History(); len(steps) > 48 || length < 20*time.Hour {
			t.Errorf("after weeks: %d steps of %v", len(steps), length)
		}
	})
}
