package compiler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
)

// A module whose child is killed is compiled once more, with more memory, and never more than that.
func TestACompilationThatIsKilledIsTriedOnceMore(t *testing.T) {
	for name, tt := range map[string]struct {
		kills int
		code  abi.Code
	}{"once": {1, abi.CodeOK}, "twice": {2, abi.CodeUnavailable}} {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t)
			dir, kills := newDir(t), filepath.Join(t.TempDir(), "kills")
			stuck := script(t, fmt.Sprintf("echo x >> %[1]s; [ $(wc -l < %[1]s) -gt %[2]d ] && exec -a wasmres-compile %[3]s; echo ready; sleep 1000",
				kills, tt.kills, self(t)))
			var asked []int64
			var released atomic.Int32
			cfg := compiler.Config{CacheDir: dir, Executable: stuck, Reserve: func(_ context.Context, bytes int64) (func(), error) {
				if int(released.Load()) != len(asked) {
					t.Error("a child has the memory of two")
				}
				asked = append(asked, bytes)
				return func() { released.Add(1) }, nil
			}}
			c, compiled := newCompiler(t, cfg), make(chan error, 1)
			go func() { compiled <- c.Compile(t.Context(), tiny()) }()
			for n := range tt.kills {
				await(t, "no child has begun", func() bool { return countLines(kills) == n+1 })
				killChild(t)
			}
			err := <-compiled
			check(t, dir, err, tt.code, "")
			var e *abi.Error
			if errors.As(err, &e) && e.RetryAfter <= 0 {
				t.Errorf("got %v without a time to retry after", err)
			}
			if len(asked) != 2 || asked[1] <= asked[0] || released.Load() != 2 {
				t.Errorf("got %v, %d released, want twice, more the second time", asked, released.Load())
			}
			if tt.code != abi.CodeOK && len(files(t, dir, "*.*ed")) > 0 {
				t.Error("the module is remembered as refused")
			}
			check(t, dir, c.Compile(t.Context(), tiny()), tt.code, "") // without a child: the next one would compile it
		})
	}
}

// countLines returns how many lines a file has; none if there is no file.
func countLines(file string) int {
	text, _ := os.ReadFile(file)
	return bytes.Count(text, []byte("\n"))
}

// killChild kills the child as the system does when memory is exhausted.
func killChild(t *testing.T) {
	t.Helper()
	found := children(t)
	if len(found) != 1 {
		t.Fatalf("got children %v, want one", found)
	}
	pid, err := strconv.Atoi(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Error(err)
	}
	await(t, "the child lives", func() bool { return unix.Kill(pid, 0) != nil })
}

// Without memory nothing is compiled, and the error is that of the reservation.
func TestACompilationWithoutMemoryIsRefused(t *testing.T) {
	leavesNothing(t)
	dir, full := newDir(t), abi.Errorf(abi.CodeUnavailable, "full")
	c := newCompiler(t, compiler.Config{CacheDir: dir, Executable: "/nonexistent", Reserve: func(context.Context, int64) (func(), error) {
		return nil, full
	}})
	check(t, dir, c.Compile(t.Context(), tiny()), abi.CodeUnavailable, "full")
}
