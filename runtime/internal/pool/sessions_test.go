package pool_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/instance"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"
)

// configure says how a puppet is run.
func configure(t *testing.T, p *guesttest.Puppet, l limits.Limits) *guest.Host {
	t.Helper()
	l, err := l.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	m, err := module.Instrument(&module.Config{Pages: l.Pages(), Table: l.Table, Imports: instance.Imports()}, p.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	host, err := guest.NewHost(guest.Config{
		Module: m, Limits: l, Services: p.Services(), MaxLifecycle: abi.LifecycleShared, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return host
}

type discard struct{}

func (discard) Content(*abi.Content) error { return nil }
func (discard) Body([]byte) error          { return nil }
func (discard) Progress(abi.Progress)      {}

// read reads a URI for a session.
func read(ctx context.Context, host *guest.Host, guests guest.Guests, uri string) error {
	c := host.NewCall(abi.OpRead, &abi.Request{URI: uri, Session: "mine"}, discard{})
	return c.Run(ctx, guests)
}

// A worker has no limiter before its pool. Calls of one state come one after another all the same, and none waits for
// longer than it may take.
func TestCallsThatShareStateNeverOverlapWithoutALimiter(t *testing.T) {
	for name, lifecycle := range map[string]abi.Lifecycle{"session": abi.LifecycleSession, "shared": abi.LifecycleShared} {
		t.Run(name, func(t *testing.T) {
			engine, err := wazero.Open(wazero.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			synctest.Test(t, func(t *testing.T) {
				begun, finish := make(chan string, 8), make(chan struct{})
				var emitted atomic.Bool // by the call under way
				p := &guesttest.Puppet{
					Manifest: abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead, Limits: abi.ManifestLimits{Lifecycle: lifecycle}},
					Next: func(_ context.Context, _ abi.Op, _ int, req *abi.Request) guesttest.Step {
						if !emitted.Swap(true) {
							begun <- req.URI
							<-finish
							return guesttest.Emit((&abi.Content{URI: "x:o", Kind: abi.KindText, Inline: []byte("fine")}).Append(nil))
						}
						emitted.Store(false)
						if req.URI == "x:trap" {
							return guesttest.Trap() // ends the state
						}
						return guesttest.Return(abi.CodeOK)
					},
				}
				host := configure(t, p, limits.Limits{Timeout: time.Minute})
				guests, err := pool.InProcess{Engine: engine}.Open(t.Context(), host)
				if err != nil {
					t.Fatal(err)
				}
				defer host.Close()
				defer guests.Close()

				ended := make(chan error, 4)
				start := func(uri string) { go func() { ended <- read(t.Context(), host, guests, uri) }() }
				start("x:first")
				<-begun
				for _, uri := range []string{"x:a", "x:trap", "x:b"} {
					start(uri)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := read(ctx, host, guests, "x:short"); abi.CodeOf(err) != abi.CodeDeadline {
					t.Errorf("a call that waits for longer than it may: got %v, want deadline", err)
				}
				for range 3 {
					synctest.Wait()
					if n := len(begun); n != 0 {
						t.Fatalf("%d calls began while another call had the state", n)
					}
					finish <- struct{}{}
					<-begun
				}
				finish <- struct{}{}
				trapped := 0
				for range 4 {
					switch err := <-ended; abi.CodeOf(err) {
					case abi.CodeOK:
					case abi.CodeTrap:
						trapped++
					default:
						t.Error(err)
					}
				}
				if trapped != 1 {
					t.Errorf("%d calls trapped, want 1", trapped)
				}
			})
		})
	}
}
