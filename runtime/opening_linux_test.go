package runtime_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime"
)

// ifsProvider returns a provider whose one function, which answers nothing, has ifs one after the other: the cost of compiling them grows
// with the square of their number.
func ifsProvider(ifs int) []byte {
	section := func(id byte, content ...byte) []byte {
		return append(binary.AppendUvarint([]byte{id}, uint64(len(content))), content...)
	}
	body := []byte{0}
	for range ifs {
		body = append(body, 0x20, 0, 0x04, 0x40, 0x0b) // local.get 0, if, end
	}
	body = append(body, 0x41, 0, 0x0b) // i32.const 0, end
	code := append(binary.AppendUvarint([]byte{1}, uint64(len(body))), body...)
	call := abi.ExportCall
	exports := append([]byte{2, byte(len(abi.ExportMemory))}, abi.ExportMemory...)
	exports = append(append(append(exports, 2, 0), byte(len(call))), call...)
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = append(m, section(1, 1, 0x60, 2, 0x7f, 0x7f, 1, 0x7f)...) // (i32, i32) -> i32
	m = append(m, section(3, 1, 0)...)
	m = append(m, section(5, 1, 0, 1)...)
	m = append(m, section(7, append(exports, 0, 0)...)...)
	m = append(m, section(10, code...)...)
	manifest := (&abi.Manifest{Name: "ifs", Version: "1", Ops: 1 << abi.OpRead}).Append(nil)
	name := append(binary.AppendUvarint(nil, uint64(len(abi.ManifestSection))), abi.ManifestSection...)
	return append(m, section(0, append(name, manifest...)...)...)
}

// Modules that wait for the compiler keep no others from being opened, whose code is there.
func TestModulesThatWaitForTheCompilerHoldNoOpening(t *testing.T) {
	for name, isolation := range map[string]runtime.Isolation{"process": runtime.IsolateProcess, "none": runtime.IsolateNone} {
		t.Run(name, func(t *testing.T) { testWaitingForTheCompiler(t, isolation) })
	}
}

func testWaitingForTheCompiler(t *testing.T, isolation runtime.Isolation) {
	cache := filepath.Join(t.TempDir(), "cache")
	h, err := runtime.NewHost(runtime.HostConfig{CacheDir: cache, Isolation: isolation, MaxOpenings: 2, MaxCompiles: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	dir := t.TempDir()
	open := func(ctx context.Context, owner string, ifs int) error {
		file := filepath.Join(dir, fmt.Sprintf("%d.wasm", ifs))
		if err := os.WriteFile(file, ifsProvider(ifs), 0o600); err != nil {
			return err
		}
		o := &runtime.Options{Lazy: true, ModuleLimits: runtime.ModuleLimits{Cost: 1 << 40, Body: 16 << 20, Blocks: 1 << 30}}
		p, err := h.Open(runtime.WithOwner(ctx, owner), file, o)
		if err != nil {
			return err
		}
		return p.Close()
	}
	if err := open(t.Context(), "honest", 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 4)
	for i := range cap(ended) {
		go func() { ended <- open(ctx, fmt.Sprint("greedy ", i), 100_000+i) }()
	}
	for len(compiling(t, cache)) == 0 && len(ended) == 0 {
		time.Sleep(time.Millisecond)
	}
	bounded, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	if err := open(bounded, "honest", 1); err != nil {
		t.Error(err)
	}
	if len(ended) > 0 {
		t.Error("a module that was compiled has waited for one that was not")
	}
	cancel()
	for range cap(ended) {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

// An owner that opens a large module again and again has its own processes stopped for it, and none of an owner within its share.
func TestOpeningALargeModuleCostsItsOwner(t *testing.T) {
	all, err := runtime.NewLive(runtime.LiveConfig{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := runtime.NewHost(runtime.HostConfig{CacheDir: guesttest.CacheDir(t), Live: all})
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]chan runtime.LiveEnd{}
	var opened []*runtime.Provider
	for _, owner := range []string{"quiet", "greedy"} { // the first is unused for longest
		end := make(chan runtime.LiveEnd, 10)
		own, err := runtime.NewLive(runtime.LiveConfig{OnEnd: func(why runtime.LiveEnd) { end <- why }})
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.Load(runtime.WithOwner(t.Context(), owner), ifsProvider(1), &runtime.Options{Live: own})
		if err != nil {
			t.Fatal(err)
		}
		ends[owner], opened = end, append(opened, p)
	}
	used := all.Stats().Memory
	if err := all.Set(runtime.LiveConfig{Memory: used * 5 / 4}); err != nil {
		t.Fatal(err)
	}
	large := largeFile(t)
	for range 3 {
		p, err := h.Open(runtime.WithOwner(t.Context(), "greedy"), large, &runtime.Options{Lazy: true})
		if err != nil {
			t.Fatal(err)
		}
		opened = append(opened, p)
	}
	if len(ends["greedy"]) != 1 || len(ends["quiet"]) > 0 {
		t.Errorf("%d of its own processes have ended, and %d of another owner, want its own", len(ends["greedy"]), len(ends["quiet"]))
	}
	for _, p := range opened {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// largeFile returns a module with much that is no code.
func largeFile(t *testing.T) string {
	t.Helper()
	padding := make([]byte, 4<<20)
	section := binary.AppendUvarint([]byte{0}, uint64(1+len(padding)))
	file := filepath.Join(t.TempDir(), "large.wasm")
	if err := os.WriteFile(file, slices.Concat(ifsProvider(1), section, []byte{0}, padding), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A module that is prepared has memory as one that is opened.
func TestPreparingReservesMemory(t *testing.T) {
	all, err := runtime.NewLive(runtime.LiveConfig{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := runtime.NewHost(runtime.HostConfig{CacheDir: guesttest.CacheDir(t), Live: all, MaxOpenings: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.Load(t.Context(), ifsProvider(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := all.Set(runtime.LiveConfig{Memory: all.Stats().Memory * 5 / 4}); err != nil {
		t.Fatal(err)
	}
	prepared, err := h.Prepare(t.Context(), largeFile(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := all.Stats(); got.Evictions != 1 {
		t.Errorf("got %+v, want that the process is stopped", got)
	}
	if err := errors.Join(prepared.Compile(t.Context()), p.Close(), h.Close()); err != nil {
		t.Error(err)
	}
}

// compiling returns the folders of compilations that run.
func compiling(t *testing.T, cache string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cache, "compiling-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
