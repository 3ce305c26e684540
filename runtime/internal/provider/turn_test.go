package provider_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

func TestCallsThatWaitForTheirSessionLeaveOthersAlone(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		begun, finish := make(chan struct{}), make(chan struct{})
		var emitted bool // by the running slow call; there is one at a time
		p := &guesttest.Puppet{
			Manifest: abi.Manifest{Limits: abi.ManifestLimits{Lifecycle: abi.LifecycleSession}},
			Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
				slow := req.URI == "x:slow"
				if n > 0 && !slow || emitted && slow {
					emitted = emitted && !slow
					return guesttest.Return(abi.CodeOK)
				}
				if slow {
					emitted = true
					begun <- struct{}{}
					<-finish
				}
				return guesttest.Emit(fine)
			},
		}
		m := loadPuppet(t, provider.Config{Runner: run, Lifecycle: abi.LifecycleSession, Limits: limits.Limits{Calls: 2, Timeout: time.Minute}}, p)
		read := func(session, uri string) error {
			_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: uri, Session: session}, &contents{})
			return err
		}
		var slow sync.WaitGroup
		for range 4 {
			slow.Go(func() {
				if err := read("a", "x:slow"); err != nil {
					t.Error(err)
				}
			})
		}
		<-begun
		if err := read("b", "x:o"); err != nil { // would wait for a minute
			t.Error(err)
		}
		for range 3 {
			finish <- struct{}{}
			<-begun
		}
		finish <- struct{}{}
		slow.Wait()
	})
}

func TestAnAbandonedCallLeavesTheStateOfItsSession(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run, Lifecycle: abi.LifecycleSession}, "visits.wasm")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for _, want := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
			if got, code := ask(t, m, "a", "x:v"); got != want || code != abi.CodeOK {
				t.Fatalf("got %s, %v, want %s", got, code, want)
			}
			_, err := m.Call(gone, abi.OpRead, &abi.Request{URI: "x:v", Session: "a"}, &contents{})
			if abi.CodeOf(err) != abi.CodeCancelled {
				t.Errorf("got %v, want cancelled", err)
			}
		}
	})
}

func TestASessionThatHasEndedIsForgotten(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run, Lifecycle: abi.LifecycleSession, Limits: limits.Limits{Sessions: 2}}, "visits.wasm")
		ask(t, m, "mine", "x:v")
		for range 5 {
			eventually(t, func() bool { // a worker receives the end of a session concurrently with calls
				got, _ := ask(t, m, "short", "x:v")
				return got == "1"
			})
			m.EndSession("short")
			m.EndSession("unknown")
		}
		if got, _ := ask(t, m, "mine", "x:v"); got != "2" {
			t.Errorf("got %s, want 2: sessions that had ended took the place", got)
		}
	})
}

func TestAnEarlierRefusalOfMemoryIsNotBlamedForATrap(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run, Lifecycle: abi.LifecycleSession, Limits: limits.Limits{Memory: 1 << 20}}, "visits.wasm")
		if _, code := ask(t, m, "a", "x:g"); code != abi.CodeOK {
			t.Fatal(code)
		}
		if _, code := ask(t, m, "a", "x:t"); code != abi.CodeTrap {
			t.Errorf("got %v, want trap", code)
		}
	})
}

func TestGuestsRunOnlyInAdmittedCalls(t *testing.T) {
	e := &counter{Engine: openEngine(t)}
	m, err := provider.Open(t.Context(), provider.Config{Runner: pool.InProcess{Engine: e}, Limits: limits.Limits{Calls: 2}}, readModule(t, "boots.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 8 {
				if body, err := readURI(t, m, "x:b"); body != "1" || err != nil {
					t.Errorf("got %q, %v", body, err)
				}
				m.AfterResponse()
			}
		})
	}
	wg.Wait()
	if most := e.most.Load(); most > 2 {
		t.Errorf("%d guests ran at once, 2 were let in", most)
	}
}

// A keepsake is a service that records the context of its call.
type keepsake struct {
	early bool // and waits for it at once
	ctx   atomic.Pointer[context.Context]
}

func (k *keepsake) Call(ctx context.Context, _ []byte) (capability.Response, error) {
	if k.early {
		select {
		case <-ctx.Done():
		default:
		}
	}
	k.ctx.Store(&ctx)
	return capability.Response{}, nil
}

func TestTheContextOfAServiceEndsWithItsCall(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		for name, k := range map[string]*keepsake{"no call waited": {}, "a call waited": {early: true}} {
			t.Run(name, func(t *testing.T) {
				p := &guesttest.Puppet{Next: steps(guesttest.Ask(abi.ServiceFileStat, nil), guesttest.Emit(fine))}
				p.Manifest = abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead}
				services := p.Services()
				services[abi.ServiceFileStat] = k
				m, err := provider.Open(t.Context(), provider.Config{Runner: run, Services: services}, p.Binary(t))
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				if _, err := readURI(t, m, "x:o"); err != nil {
					t.Fatal(err)
				}
				ctx := *k.ctx.Load()
				<-ctx.Done()
				if ctx.Err() == nil {
					t.Error("the context is done without an error")
				}
				derived, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				<-derived.Done()
			})
		}
	})
}

func TestTrimmedInstancesReleaseMemoryEachTime(t *testing.T) {
	w := &witness{Engine: openEngine(t)}
	binary := readModule(t, "faults.wasm")
	synctest.Test(t, func(t *testing.T) {
		m, err := provider.Open(t.Context(), provider.Config{Runner: pool.InProcess{Engine: w}, Limits: limits.Limits{Calls: 1}}, binary)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for burst := range 3 {
			if _, err := readURI(t, m, "x:o"); err != nil {
				t.Fatal(err)
			}
			m.AfterResponse()
			<-time.After(3 * time.Second)
			synctest.Wait()
			if got, want := w.rests.Load(), int64(burst+1); got != want {
				t.Errorf("burst %d: instances rested %d times, want %d", burst, got, want)
			}
		}
	})
}
