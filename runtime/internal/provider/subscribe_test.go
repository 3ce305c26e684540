package provider_test

import (
	"context"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

// openTelling opens a provider that reports a change of each resource it reads, a hundred times over, and of the list.
func openTelling(t *testing.T) (p *provider.Provider, change func(uri string)) {
	p = openPuppet(t, provider.Config{}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: 1 << abi.OpRead},
		Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
			switch n {
			case 0:
				return guesttest.Ask(abi.ServiceNotifyUpdated, (&abi.NotifyRequest{URI: req.URI}).Append(nil)).Times(100)
			case 1:
				return guesttest.Ask(abi.ServiceNotifyList, nil)
			case 2:
				return content(req.URI, "fine")
			}
			return guesttest.Return(abi.CodeOK)
		},
	})
	return p, func(uri string) {
		t.Helper()
		if _, err := read(t.Context(), p, uri); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyWatchersCostNoGoroutinesAndAllAreTold(t *testing.T) {
	p, change := openTelling(t)
	change("x:a") // whatever a first call starts has started
	before := goruntime.NumGoroutine()
	const watchers = 2000
	var told sync.WaitGroup
	var others atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	for i := range watchers {
		var once, listOnce sync.Once
		uris := []string{"x:a"}
		if i%2 == 1 {
			uris = []string{"x:b", "x:a", "x:a"}
		}
		told.Add(1)
		if i%10 == 0 {
			told.Add(1)
		}
		_, err := p.Subscribe(ctx, parse(uris...), i%10 == 0, resource.NotifierFunc(func(uri string) {
			switch uri {
			case "x:a":
				once.Do(told.Done)
			case "":
				listOnce.Do(told.Done)
			default:
				others.Add(1)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := goruntime.NumGoroutine(); n > before+10 {
		t.Errorf("got %d goroutines for %d watchers, %d before", n, watchers, before)
	}
	change("x:a")
	told.Wait()
	change("x:c")
	cancel()
	awaitGoroutines(t, before)
	if others.Load() != 0 {
		t.Errorf("got %d changes of others, want none", others.Load())
	}
}

// merging gives a Notifier whose changes f gets one at a time until ctx ends, merged while f is busy.
func merging(ctx context.Context, f func(uri string)) resource.Notifier {
	s := coalesce.New(nil)
	go s.Drain(ctx, 0, func(uri string) error { f(uri); return nil })
	return resource.NotifierFunc(s.Add)
}

// TestWhatABusyWatcherMissesIsMerged has several watchers that are busy, while others go on.
func TestWhatABusyWatcherMissesIsMerged(t *testing.T) {
	p, change := openTelling(t)
	const busy = 5
	gate, heard, quick := make(chan struct{}), make(chan string, 1000), make(chan string, 1000)
	for range busy {
		first := true
		_, err := p.Subscribe(t.Context(), parse("x:a"), false, merging(t.Context(), func(uri string) {
			if heard <- uri; first {
				first = false
				<-gate
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Subscribe(t.Context(), parse("x:a"), false, resource.NotifierFunc(func(uri string) { quick <- uri })); err != nil {
		t.Fatal(err)
	}
	change("x:a")
	for range busy {
		<-heard
	}
	<-quick
	for len(quick) > 0 {
		<-quick
	}
	for range 10 {
		change("x:a")
		<-quick
	}
	if len(heard) > 0 {
		t.Error("a busy watcher was told")
	}
	close(gate)
	for range busy {
		<-heard
	}
	change("x:a")
	<-quick
	for range busy {
		<-heard
	}
}

func TestAWatcherHearsNothingAfterItsEnd(t *testing.T) {
	p, change := openTelling(t)
	ending, cancel := context.WithCancel(t.Context())
	var told atomic.Int64
	heard := make(chan string, 10_000)
	for range 100 {
		if _, err := p.Subscribe(ending, parse("x:a"), true, resource.NotifierFunc(func(string) { told.Add(1) })); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Subscribe(t.Context(), parse("x:a"), false, resource.NotifierFunc(func(uri string) { heard <- uri })); err != nil {
		t.Fatal(err)
	}
	again := func(times int) int64 {
		for range times {
			for len(heard) > 0 {
				<-heard
			}
			change("x:a")
			<-heard
		}
		return told.Load()
	}
	if again(1) == 0 {
		again(3) // the order in which watchers are told is not set
	}
	cancel()
	if before, after := again(3), again(10); before == 0 || after != before {
		t.Errorf("told %d times before the end and %d after it", before, after-before)
	}
}
