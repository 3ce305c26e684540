package meter_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wasmres/wasmres/runtime/internal/meter"
)

// goGuest returns testdata/guest, built once with the toolchain that runs the tests.
func goGuest(tb testing.TB) []byte {
	tb.Helper()
	binary, err := buildGuest()
	if err != nil {
		tb.Fatal(err)
	}
	return binary
}

var buildGuest = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "meter-guest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", out, "./testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the guest: %w\n%s", err, text)
	}
	return os.ReadFile(out)
})

// goFrames is what Go functions take here: their values live on a stack of their own.
var goFrames = slices.Repeat([]uint32{512}, 10_000)

// bothForms returns an initialised Go guest, as it is and metered.
func bothForms(tb testing.TB, h *host, binary []byte) (plain, metered *guest) {
	tb.Helper()
	wasi_snapshot_preview1.MustInstantiate(context.Background(), h.runtime)
	plain, err := h.original(binary)
	if err != nil {
		tb.Fatal(err)
	}
	cfg := generous
	cfg.Frames = goFrames
	if metered, err = h.metered(binary, cfg); err != nil {
		tb.Fatal(err)
	}
	for _, g := range []*guest{plain, metered} {
		if _, err := g.call("_initialize"); err != nil {
			tb.Fatal(err)
		}
	}
	return plain, metered
}

func TestGoGuestDoesTheSame(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("a Go guest takes long to compile, longer with the race detector in the compiler")
	}
	plain, metered := bothForms(t, newCachedHost(t), goGuest(t))
	compareCalls(t, plain, metered, func(invocation) {})
}

// TestGoGuestPaysForLittleMoreThanItExecutes keeps the charges for what is then left early small.
func TestGoGuestPaysForLittleMoreThanItExecutes(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("a guest that counts is five times as large: it takes too long to compile")
	}
	plain, metered := bothForms(t, newCachedHost(t), counted(t, goGuest(t)))
	count := plain.module.ExportedGlobal(countName)
	from := count.Get()
	compareCalls(t, plain, metered, func(c invocation) {
		executed := (count.Get() - from) * (counting + 1)
		from = count.Get()
		if ratio := float64(metered.used()) / float64(executed); ratio < 1 || ratio > 3 {
			t.Errorf("%s: uses %.2f times what it executes, want 1 to 3", c.function, ratio)
		}
	})
}

// compareCalls calls what a Go guest exports in both forms, and looks after each.
func compareCalls(t *testing.T, plain, metered *guest, look func(invocation)) {
	t.Helper()
	for _, c := range []invocation{{"format", []uint64{7}}, {"encode", []uint64{7}}, {"search", []uint64{50}}} {
		want, err := plain.call(c.function, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := metered.call(c.function, c.args...)
		if err != nil || got[0] != want[0] {
			t.Errorf("%s: got %v, %v, want %v", c.function, got, err, want)
		}
		if metered.dirty.Get() != 0 || int32(metered.depth.Get()) != metered.stack {
			t.Errorf("%s: dirty is %d, depth %d", c.function, metered.dirty.Get(), int32(metered.depth.Get()))
		}
		look(c)
	}
}

func TestGoGuestIsTakenApart(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a guest")
	}
	binary := goGuest(t)
	code, err := meter.Rewrite(binary, generous)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes became %d and %d segments", len(binary), len(code.Binary), len(code.Data))
	if len(code.Data) < 1000 || code.CanDirty != "" {
		t.Errorf("%d segments, dirty if %q: want thousands and never", len(code.Data), code.CanDirty)
	}
	checkPaths(t, "the Go guest", binary)
}

func BenchmarkRewrite(b *testing.B) {
	binary := goGuest(b)
	b.SetBytes(int64(len(binary)))
	for b.Loop() {
		if _, err := meter.Rewrite(binary, generous); err != nil {
			b.Fatal(err)
		}
	}
}
