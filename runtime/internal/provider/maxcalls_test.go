package provider_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/limits"
)

// A pair is a runner that can run two calls at once. It has no engine.
type pair struct {
	guest.Guests
	running atomic.Int32
	finish  chan struct{} // ends one call
}

func (p *pair) Open(context.Context, *guest.Host) (guest.Guests, error) { return p, nil }
func (p *pair) MaxCalls() int                                           { return 2 }
func (p *pair) Close() error                                            { return nil }
func (p *pair) Call(*deadline.Context, *guest.Call) error {
	p.running.Add(1)
	<-p.finish
	p.running.Add(-1)
	return nil
}

// Calls beyond those of the runner wait as others do: for the timeout; then they are refused with a time to retry.
func TestNoMoreCallsRunThanTheRunnerCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pair{finish: make(chan struct{})}
		puppet := &guesttest.Puppet{Manifest: abi.Manifest{Name: "pair", Ops: 1 << abi.OpSubscribe}}
		m, err := provider.Open(t.Context(), provider.Config{Runner: p, Limits: limits.Limits{Calls: 4, Timeout: time.Second}}, puppet.Binary(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		codes := make(chan abi.Code, 4)
		for range 4 {
			go func() {
				code, _ := subscribe(t.Context(), m)
				codes <- code
			}()
		}
		synctest.Wait()
		if n := p.running.Load(); n != 2 {
			t.Errorf("%d calls run at once, want 2", n)
		}
		p.finish <- struct{}{}
		synctest.Wait()
		if n := p.running.Load(); n != 2 {
			t.Errorf("%d calls run when one has ended, want 2", n)
		}
		if code := <-codes; code != abi.CodeOK {
			t.Errorf("got %v", code)
		}
		if code := <-codes; code != abi.CodeBusy { // after a second
			t.Errorf("a call that waited for the timeout: got %v, want busy", code)
		}
		close(p.finish)
		for range 2 {
			if code := <-codes; code != abi.CodeOK {
				t.Errorf("got %v", code)
			}
		}
	})
}
