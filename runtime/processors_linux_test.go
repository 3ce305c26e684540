package runtime_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
)

// computing is a guest whose reads keep a processor busy for tens of milliseconds.
func computing() *guesttest.Puppet {
	return &guesttest.Puppet{
		Manifest: abi.Manifest{
			Name: "computing", Version: "1", Ops: 1 << abi.OpRead, Resources: []abi.Resource{{URI: "c://x", Name: "x"}},
		},
		Next: func(_ context.Context, _ abi.Op, n int, _ *abi.Request) guesttest.Step {
			switch n {
			case 0:
				return guesttest.Log(1, "x").Times(100_000)
			case 1:
				return guesttest.Emit((&abi.Content{URI: "c://x", Kind: abi.KindText, Inline: []byte("x")}).Append(nil))
			}
			return guesttest.Return(abi.CodeOK)
		},
	}
}

// puppetCapability grants a puppet its strings.
type puppetCapability struct{ *guesttest.Puppet }

func (puppetCapability) Close() error { return nil }

// TestProcessorsAreSharedByWeight has two owners with weights 1 and 3 keep worker processes busy with calls that all cost the same.
func TestProcessorsAreSharedByWeight(t *testing.T) {
	if testing.Short() {
		t.Skip("keeps all processors busy for seconds")
	}
	processors, err := runtime.NewProcessors(runtime.ProcessorsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := runtime.NewHost(runtime.HostConfig{CacheDir: guesttest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(guesttest.Computing(t))
	if err != nil {
		t.Fatal(err)
	}
	var done [2]atomic.Int64
	var providers []*runtime.Provider
	var callers sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for i, weight := range []int{1, 3} {
		p, err := h.Load(t.Context(), module, &runtime.Options{
			Limits: runtime.Limits{Timeout: time.Minute}, Share: processors.NewShare(weight),
		})
		if err != nil {
			t.Fatal(err)
		}
		providers = append(providers, p)
		for range 8 {
			callers.Go(func() {
				for ctx.Err() == nil {
					if _, err := p.Read(ctx, "compute://10000"); err == nil {
						done[i].Add(1)
					} else if ctx.Err() == nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	calls := func() int64 { return done[0].Load() + done[1].Load() }
	await(t, func() bool { return calls() >= 20 }) // both are full by then
	first := [2]int64{done[0].Load(), done[1].Load()}
	await(t, func() bool { return calls() >= first[0]+first[1]+200 })
	one, three := done[0].Load()-first[0], done[1].Load()-first[1]
	cancel()
	callers.Wait()
	share := float64(three) / float64(one+three)
	t.Logf("%d and %d calls: %.1f %% for a weight of 3 of 4", one, three, 100*share)
	if share < 0.675 || share > 0.825 {
		t.Errorf("%.1f %% for a weight of 3 of 4, want 75 %% within a tenth", 100*share)
	}
	for _, p := range providers {
		err = errors.Join(err, p.Close())
	}
	if err := errors.Join(err, h.Close()); err != nil {
		t.Error(err)
	}
	if s := processors.Stats(); s.Running != 0 || s.Waiting != 0 {
		t.Errorf("at the end: %+v", s)
	}
}

// await waits until a condition holds, for two minutes at most.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("two minutes were not enough")
		}
	}
}

// TestStartsAndCompilationsAreCharged has several owners open the same module. The first pays for checking, metering, compiling and a start,
// the others for a start alone: one of these has paid less, since not each start is disturbed.
func TestStartsAndCompilationsAreCharged(t *testing.T) {
	processors, err := runtime.NewProcessors(runtime.ProcessorsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := runtime.NewHost(runtime.HostConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	first, third := processors.NewShare(1), processors.NewShare(1)
	puppet := computing()
	open := func(share *runtime.Share) {
		t.Helper()
		p, err := h.Load(t.Context(), puppet.Binary(t), &runtime.Options{Capabilities: []capability.Capability{puppetCapability{puppet}}, Share: share})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	open(first)
	var least time.Duration
	for i := range 10 {
		later := processors.NewShare(1)
		open(later)
		if i == 0 || later.Charged() < least {
			least = later.Charged()
		}
	}
	if first.Charged() <= least || least <= 0 {
		t.Errorf("the first has paid %v, the others %v at least", first.Charged(), least)
	}
	other := filepath.Join(t.TempDir(), "other.wasm")
	if err := os.WriteFile(other, append(puppet.Binary(t), 0, 2, 1, 'x'), 0o600); err != nil { // with another section
		t.Fatal(err)
	}
	p, err := h.Prepare(t.Context(), other, &runtime.Options{Share: third})
	if err != nil {
		t.Fatal(err)
	}
	prepared := third.Charged()
	if err := p.Compile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if prepared <= 0 {
		t.Errorf("preparing was charged with %v", prepared)
	}
}
