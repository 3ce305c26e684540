package node_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/hosttest"
)

// isLater reports whether the client was told when to try again.
func (a answer) isLater() bool { return strings.Contains(a.body, `"retryAfterMs":`) }

// Tenants whose providers have no process are all called at the same time. Each call is answered, or told when to try again; then all are
// served. The same holds for a tenant that was live before, which is called all the while.
func TestManyTenantsWakeAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	many := hosttest.Size(40, 1000)
	text := fmt.Sprintf("plan: light\nproviders: {p: {module: %q}}\n", guesttest.Computing(t))
	tenants := map[string]string{"live": text}
	for i := range many {
		tenants[fmt.Sprintf("cold-%d", i)] = text
	}
	h := hostFair(t, tenants)
	if a := h.compute("live", 1); !a.isResult() {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	var calling sync.WaitGroup
	for i := range many {
		calling.Go(func() {
			for ; ; time.Sleep(20 * time.Millisecond) {
				a := h.compute(fmt.Sprintf("cold-%d", i), 1)
				if a.isResult() {
					return
				}
				if !a.isLater() {
					t.Errorf("cold-%d got %d %s", i, a.status, a.body)
					return
				}
			}
		})
	}
	woken := make(chan struct{})
	go func() { calling.Wait(); close(woken) }()
	for isOver := false; !isOver; {
		if a := h.compute("live", 1); !a.isResult() && !a.isLater() {
			t.Errorf("the live tenant got %d %s", a.status, a.body)
		}
		select {
		case <-woken:
			isOver = true
		case <-time.After(10 * time.Millisecond):
		}
	}
}
