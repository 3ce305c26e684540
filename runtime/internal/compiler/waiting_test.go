package compiler_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
)

// A module that waits for its turn is not held, and is loaded when the turn has come.
func TestAModuleIsNotHeldWhileItWaits(t *testing.T) {
	leavesNothing(t)
	dir := newDir(t)
	c := newCompiler(t, compiler.Config{CacheDir: dir})
	check(t, dir, c.Compile(t.Context(), tiny()), abi.CodeOK, "")
	long, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := make(chan error, 1)
	go func() { first <- c.Compile(long, ifs(100_000, 0)) }()
	await(t, "nothing is compiled", func() bool { return len(children(t)) > 0 })

	var loaded atomic.Int32
	held := make(chan weak.Pointer[byte], 1)
	second := make(chan error, 1)
	go func() {
		module := functions(1000)
		held <- weak.Make(&module[0])
		_, err := c.FolderOf(t.Context(), module, func() ([]byte, error) {
			loaded.Add(1)
			return functions(1000), nil
		})
		second <- err
	}()
	waiting := <-held
	await(t, "the module is held", func() bool {
		runtime.GC()
		return waiting.Value() == nil
	})
	if n := loaded.Load(); n != 0 || len(second) > 0 {
		t.Errorf("loaded %d times before its turn", n)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: got %v", err)
	}
	if err := <-second; err != nil || loaded.Load() != 1 {
		t.Errorf("the second: got %v, loaded %d times, want once", err, loaded.Load())
	}
}

// await waits for a condition, for no longer than a minute.
func await(t *testing.T, missing string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(missing)
		}
	}
}

// What cannot be loaded again, or is another module, is not compiled, and is no refusal of the module.
func TestAModuleThatIsNotLoadedAgain(t *testing.T) {
	gone := errors.New("gone")
	for name, load := range map[string]func() ([]byte, error){
		"gone":     func() ([]byte, error) { return nil, gone },
		"replaced": func() ([]byte, error) { return functions(2), nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			c := newCompiler(t, compiler.Config{CacheDir: dir})
			_, err := c.FolderOf(t.Context(), functions(1), load)
			if err == nil || abi.CodeOf(err) == abi.CodeModule || name == "gone" && !errors.Is(err, gone) {
				t.Errorf("got %v", err)
			}
			for _, module := range [][]byte{functions(1), functions(2)} {
				check(t, dir, c.Compile(t.Context(), module), abi.CodeOK, "")
			}
		})
	}
}
