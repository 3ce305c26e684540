package provider_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A worksite is a runner whose guests use processor time. It has no engine.
type worksite struct {
	guest.Guests
	work time.Duration // of each call
	asks time.Duration // that each call spends in services of the host
}

func (w *worksite) Open(context.Context, *guest.Host) (guest.Guests, error) { return w, nil }

func (w *worksite) MaxCalls() int { return math.MaxInt }

func (w *worksite) Call(ctx *deadline.Context, c *guest.Call) error {
	time.Sleep(w.work)
	if w.asks > 0 {
		c.Service(ctx, abi.ServiceHTTP, nil)
	}
	return nil
}

func (w *worksite) Close() error { return nil }

// A host is a service that takes the requested time.
type worksiteHost struct{ site *worksite }

func (h worksiteHost) Call(context.Context, []byte) (capability.Response, error) {
	time.Sleep(h.site.asks)
	return capability.Response{}, nil
}

// openSite opens a module whose calls have a limit of processor time.
func openSite(t *testing.T, w *worksite, milli uint32) *provider.Provider {
	t.Helper()
	puppet := &guesttest.Puppet{Manifest: abi.Manifest{Name: "site", Ops: 1 << abi.OpSubscribe}}
	return openBinary(t, provider.Config{
		Runner: w, Services: capability.Services{abi.ServiceHTTP: worksiteHost{w}},
		Limits: limits.Limits{MilliCPU: milli, Timeout: 10 * time.Second, Calls: 4},
	}, puppet.Binary(t))
}

func TestCallsKeepToTheirShareOfTheProcessors(t *testing.T) {
	for _, tt := range []struct {
		name        string
		milli       uint32
		work, asks  time.Duration
		atOnce      int
		least, most time.Duration // for 40 calls
	}{
		{"half of one", 500, 50 * time.Millisecond, 0, 1, 3800 * time.Millisecond, 4 * time.Second},
		{"what servers take does not count", 500, 50 * time.Millisecond, 50 * time.Millisecond, 1, 4 * time.Second, 4 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := openSite(t, &worksite{work: tt.work, asks: tt.asks}, tt.milli)
				began := time.Now()
				var callers sync.WaitGroup
				for range tt.atOnce {
					callers.Go(func() {
						for range 40 / tt.atOnce {
							if _, err := m.Call(t.Context(), abi.OpSubscribe, &abi.Request{URI: "x:y"}, nil); err != nil {
								t.Error(err)
							}
						}
					})
				}
				callers.Wait()
				if took := time.Since(began); took < tt.least || took > tt.most {
					t.Errorf("40 calls took %v, want %v to %v", took, tt.least, tt.most)
				}
			})
		})
	}
}
