package provider_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// loadCounting loads a guest whose x:s answers how often it was read, as it remembers, and that requests a lifecycle.
func loadCounting(t *testing.T, asked abi.Lifecycle, cfg provider.Config) *provider.Provider {
	t.Helper()
	manifest := abi.Manifest{Name: "counting", Ops: 1 << abi.OpRead, Limits: abi.ManifestLimits{Lifecycle: asked}}
	binary, err := wasm.WithCustom(readModule(t, "faults.wasm"), abi.ManifestSection, manifest.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	return openBinary(t, cfg, binary)
}

// ask reads uri for a session.
func ask(t *testing.T, m *provider.Provider, session, uri string) (string, abi.Code) {
	t.Helper()
	var got contents
	_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: uri, Session: session}, &got)
	m.AfterResponse()
	return string(got.body), abi.CodeOf(err)
}

func TestALifecycleIsWhatIsAskedForAndGranted(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		fresh, session, shared := abi.LifecycleFresh, abi.LifecycleSession, abi.LifecycleShared
		for name, tt := range map[string]struct {
			asked, granted abi.Lifecycle
			want           [6]string // for sessions a a b b "" ""
		}{
			"neither":                 {fresh, fresh, [6]string{"1", "1", "1", "1", "1", "1"}},
			"session, not granted":    {session, fresh, [6]string{"1", "1", "1", "1", "1", "1"}},
			"shared, not asked for":   {fresh, shared, [6]string{"1", "1", "1", "1", "1", "1"}},
			"unknown":                 {7, shared, [6]string{"1", "1", "1", "1", "1", "1"}},
			"session":                 {session, session, [6]string{"1", "2", "1", "2", "1", "1"}},
			"session, shared granted": {session, shared, [6]string{"1", "2", "1", "2", "1", "1"}},
			"shared, session granted": {shared, session, [6]string{"1", "1", "1", "1", "1", "1"}},
			"shared":                  {shared, shared, [6]string{"1", "2", "3", "4", "5", "6"}},
		} {
			t.Run(name, func(t *testing.T) {
				m := loadCounting(t, tt.asked, provider.Config{Runner: run, Lifecycle: tt.granted})
				for i, who := range []string{"a", "a", "b", "b", "", ""} {
					if got, code := ask(t, m, who, "x:s"); got != tt.want[i] || code != abi.CodeOK {
						t.Errorf("call %d, of session %q: got %s, %v, want %s", i, who, got, code, tt.want[i])
					}
				}
			})
		}
	})
}

func TestACallThatIsStoppedHalfwayEndsTheStateOfItsSessionOnly(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := loadCounting(t, abi.LifecycleSession, provider.Config{
			Runner: run, Lifecycle: abi.LifecycleSession, Limits: limits.Limits{Fuel: 10_000_000, Timeout: time.Minute},
		})
		for _, fault := range []struct {
			uri  string
			code abi.Code
			want string // of the next x:s
		}{
			{"x:a", abi.CodeTrap, "1"}, {"x:e", abi.CodeFuel, "1"}, {"x:m", abi.CodeExit, "1"}, {"x:q", abi.CodeStack, "1"},
			{"x:j", abi.CodeNotFound, "3"}, // it answered
		} {
			ask(t, m, "a", "x:s")
			ask(t, m, "other", "x:s")
			if _, code := ask(t, m, "a", fault.uri); code != fault.code {
				t.Errorf("%s: got %v, want %v", fault.uri, code, fault.code)
			}
			if got, _ := ask(t, m, "a", "x:s"); got != fault.want {
				t.Errorf("after %s: got %s, want %s", fault.uri, got, fault.want)
			}
		}
		if got, _ := ask(t, m, "other", "x:s"); got != "6" {
			t.Errorf("the other session: got %s, want 6: it was disturbed", got)
		}
	})
}

func TestSessionsBeyondTheLimitReplaceTheLongestUnused(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := loadCounting(t, abi.LifecycleSession, provider.Config{
			Runner: run, Lifecycle: abi.LifecycleSession, Limits: limits.Limits{Sessions: 2},
		})
		for i, step := range []struct{ session, want string }{
			{"a", "1"}, {"b", "1"}, {"a", "2"}, {"c", "1"}, {"a", "3"}, {"b", "1"}, {"a", "4"}, {"c", "1"},
		} {
			if got, code := ask(t, m, step.session, "x:s"); got != step.want || code != abi.CodeOK {
				t.Errorf("step %d, session %s: got %s, %v, want %s", i, step.session, got, code, step.want)
			}
		}
	})
}

func TestNewSessionsAreRefusedWhileAllAreBusy(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for two deadlines")
	}
	t.Parallel() // the test waits
	both(t, func(t *testing.T, run guest.Runner) {
		m := loadCounting(t, abi.LifecycleSession, provider.Config{
			Runner: run, Lifecycle: abi.LifecycleSession, Limits: limits.Limits{Sessions: 1, Timeout: time.Second},
		})
		codes := make(chan abi.Code, 2)
		var wg sync.WaitGroup
		for _, session := range []string{"a", "b"} {
			wg.Go(func() {
				_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:e", Session: session}, &contents{})
				codes <- abi.CodeOf(err)
			})
		}
		wg.Wait()
		if a, b := <-codes, <-codes; a != abi.CodeBusy || b != abi.CodeDeadline {
			t.Errorf("got %v and %v, want busy at once, then deadline", a, b)
		}
	})
}

func TestCallsOfOneSessionTakeTurns(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := loadCounting(t, abi.LifecycleSession, provider.Config{Runner: run, Lifecycle: abi.LifecycleSession})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					_, err := m.Call(context.Background(), abi.OpRead, &abi.Request{URI: "x:o", Session: "a"}, &contents{})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestIdleInstancesAreDiscarded(t *testing.T) {
	for name, lifecycle := range map[string]abi.Lifecycle{"fresh": abi.LifecycleFresh, "session": abi.LifecycleSession} {
		t.Run(name, func(t *testing.T) {
			e := &counter{Engine: openEngine(t)}
			manifest := abi.Manifest{Name: "counting", Ops: 1 << abi.OpRead, Limits: abi.ManifestLimits{Lifecycle: lifecycle}}
			binary, err := wasm.WithCustom(readModule(t, "faults.wasm"), abi.ManifestSection, manifest.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				m, err := provider.Open(t.Context(), provider.Config{
					Runner: pool.InProcess{Engine: e}, Lifecycle: lifecycle, Limits: limits.Limits{Idle: time.Minute},
				}, binary)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				after := func(d time.Duration, want int64) {
					t.Helper()
					<-time.After(d)
					synctest.Wait()
					if got := e.open.Load(); got != want {
						t.Errorf("after %v: %d instances are open, want %d", d, got, want)
					}
				}
				ask(t, m, "a", "x:s")
				after(30*time.Second, 1)
				ask(t, m, "a", "x:s")
				after(45*time.Second, 1)
				after(2*time.Minute, 0)
				if got, code := ask(t, m, "a", "x:s"); got != "1" || code != abi.CodeOK {
					t.Errorf("got %s, %v, want a new start", got, code)
				}
			})
		})
	}
}
