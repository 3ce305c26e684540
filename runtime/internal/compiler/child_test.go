//go:build linux

package compiler_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/process"
)

// children lists the processes this one has started, zombies too.
func children(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, file := range files(t, "/proc/self/task", "*", "children") {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
			t.Fatal(err)
		}
		found = append(found, strings.Fields(string(text))...)
	}
	return slices.DeleteFunc(found, func(id string) bool { return id == strconv.Itoa(process.ForkServer()) })
}

// rss is the memory this process occupies, in bytes.
func rss(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// leavesNothing fails the test when it has left a process, a descriptor or a goroutine behind.
func leavesNothing(t *testing.T) {
	t.Helper()
	descriptors := func() int { return len(files(t, "/proc/self/fd", "*")) }
	process.ForkServer() // or the test may start it, by its ninth child or when it has rested
	fds, goroutines := descriptors(), goruntime.NumGoroutine()
	t.Cleanup(func() {
		if left := children(t); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
		for deadline := time.Now().Add(time.Minute); goruntime.NumGoroutine() > goroutines || descriptors() > fds; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d goroutines, %d descriptors, at the start %d and %d", goruntime.NumGoroutine(), descriptors(), goroutines, fds)
			}
		}
	})
}

// forever is for how long the children sleep that nothing ends. What takes less than half of it did not wait for them: a busy machine
// takes a while for what it does at once.
const forever = 1000 * time.Second

func TestCompileBombsAreKilledAtTheDeadline(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for two deadlines")
	}
	leavesNothing(t)
	const timeout = 5 * time.Second // a child has to begin by then
	dir := newDir(t)
	c := newCompiler(t, compiler.Config{CacheDir: dir, Timeout: timeout, Concurrent: 2})
	check(t, dir, newCompiler(t, compiler.Config{CacheDir: dir}).Compile(t.Context(), tiny()), abi.CodeOK, "") // however long it takes
	var bombs [4][]byte
	for i := range bombs {
		bombs[i] = ifs(60_000, i)
	}
	before, start := rss(t), time.Now()
	var wg sync.WaitGroup
	for _, bomb := range bombs {
		wg.Go(func() {
			err := c.Compile(t.Context(), bomb)
			if abi.CodeOf(err) != abi.CodeModule || !strings.Contains(err.Error(), "longer than "+timeout.String()) {
				t.Errorf("got %v, want a refusal for time", err)
			}
		})
	}
	wg.Wait()
	took, grown := time.Since(start), rss(t)-before
	if took > forever/2 {
		t.Errorf("took %v for two rounds of %v", took, timeout)
	}
	if grown > 32<<20 {
		t.Errorf("the parent grew by %d MiB", grown>>20)
	}
	check(t, dir, nil, abi.CodeOK, "")
	t.Logf("4 bombs, 2 at a time: %v, the parent grew by %d KiB", took, grown>>10)
}

// An owner with modules that take long does not keep another one waiting, whose module takes no time.
func TestOwnersCompileInTurn(t *testing.T) {
	leavesNothing(t)
	dir := newDir(t)
	c := newCompiler(t, compiler.Config{CacheDir: dir, Concurrent: 2})
	check(t, dir, c.Compile(t.Context(), tiny()), abi.CodeOK, "")
	ctx, cancel := context.WithCancel(compiler.WithOwner(t.Context(), "greedy"))
	defer cancel()
	ended := make(chan error, 3)
	for i := range cap(ended) {
		go func() { ended <- c.Compile(ctx, ifs(100_000, i)) }()
	}
	for deadline := time.Now().Add(time.Minute); len(children(t)) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is compiled")
		}
	}
	if err := c.Compile(compiler.WithOwner(t.Context(), "other"), functions(1)); err != nil {
		t.Error(err)
	}
	if len(ended) > 0 {
		t.Errorf("the other owner has waited for a module of the greedy one: %v", <-ended)
	}
	cancel()
	for range cap(ended) {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

func TestAChildsProcessorTimeIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it keeps a processor busy for a second")
	}
	leavesNothing(t)
	cfg := compiler.Config{CacheDir: newDir(t), CPU: 500 * time.Millisecond} // rounded up
	err := newCompiler(t, cfg).Compile(t.Context(), ifs(60_000, 0))
	check(t, cfg.CacheDir, err, abi.CodeModule, "more than 1s of processor time")
	cfg.Executable = "/nonexistent"
	err = newCompiler(t, cfg).Compile(t.Context(), ifs(60_000, 0))
	check(t, cfg.CacheDir, err, abi.CodeModule, "more than 1s of processor time")
}

func TestMemoryBombsHitOnlyTheChild(t *testing.T) {
	leavesNothing(t)
	dir := newDir(t)
	c := newCompiler(t, compiler.Config{CacheDir: dir, Memory: 512 << 20})
	check(t, dir, c.Compile(t.Context(), tiny()), abi.CodeOK, "")
	header := "\x00asm\x01\x00\x00\x00"
	before := rss(t)
	for name, bomb := range map[string][]byte{
		"locals":    locals(200_000_000),
		"functions": []byte(header + "\x03\x05\xff\xff\xff\xff\x0f"),
		"code":      []byte(header + "\x0a\x05\xff\xff\xff\xff\x0f"),
	} {
		t.Run(name, func(t *testing.T) {
			check(t, dir, c.Compile(t.Context(), bomb), abi.CodeModule, "more than 512 MiB of memory")
		})
	}
	if grown := rss(t) - before; grown > 32<<20 {
		t.Errorf("the parent grew by %d MiB", grown>>20)
	}
}

func TestNativeCodeIsBounded(t *testing.T) {
	leavesNothing(t)
	dir := newDir(t)
	// An inherited limit that is lower stays, so this file need not be written in full.
	cfg := compiler.Config{CacheDir: dir, Executable: script(t, "ulimit -f 40; exec -a wasmres-compile "+self(t))}
	check(t, dir, newCompiler(t, cfg).Compile(t.Context(), functions(5000)), abi.CodeModule, "compiles to more than 256 MiB")
}

func TestRaisingALimitForgetsWhatRanIntoIt(t *testing.T) {
	leavesNothing(t)
	dir := newDir(t)
	compile := func(memory uint64, executable string) error {
		c := newCompiler(t, compiler.Config{CacheDir: dir, Memory: memory, Executable: executable})
		return c.Compile(t.Context(), tiny())
	}
	exhausted := script(t, `echo ready; echo '{"failed":"memory"}'`)
	check(t, dir, compile(128<<20, exhausted), abi.CodeModule, "more than 128 MiB")
	check(t, dir, compile(96<<20, ""), abi.CodeModule, "more than 128 MiB") // that was under more
	check(t, dir, compile(512<<20, ""), abi.CodeOK, "")
	check(t, dir, compile(96<<20, exhausted), abi.CodeOK, "") // it is compiled by now
}

// self is the test binary.
func self(t *testing.T) string {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestACallerThatStopsWaitingLeavesTheChildToTheOthers(t *testing.T) {
	leavesNothing(t)
	dir, away := newDir(t), t.TempDir()
	started, done := filepath.Join(away, "started"), filepath.Join(away, "done")
	slow := newCompiler(t, compiler.Config{CacheDir: dir, Executable: script(t,
		"echo x >> "+started+"; echo ready; until [ -e "+done+` ]; do sleep 0.02; done; echo '{"failed":"told so"}'`)})
	stays := make(chan error)
	go func() { stays <- slow.Compile(t.Context(), tiny()) }()
	waitFor(t, started)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	check(t, away, slow.Compile(ctx, tiny()), abi.CodeDeadline, "deadline")
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, away, <-stays, abi.CodeInternal, "told so")
	if text, err := os.ReadFile(started); err != nil || string(text) != "x\n" {
		t.Errorf("got %q, %v, want one child", text, err)
	}
}

func TestTheLastToStopWaitingKillsTheChild(t *testing.T) {
	leavesNothing(t)
	dir, started := newDir(t), filepath.Join(t.TempDir(), "started")
	slow := newCompiler(t, compiler.Config{CacheDir: dir, Executable: script(t, "echo x >> "+started+"; echo ready; sleep 1000 & sleep 1000")})
	reason := errors.New("the client has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	errs := make(chan error)
	go func() { errs <- slow.Compile(ctx, tiny()) }()
	waitFor(t, started)
	start := time.Now()
	cancel(reason)
	check(t, dir, <-errs, abi.CodeInternal, reason.Error())
	if took := time.Since(start); took > forever/2 {
		t.Errorf("leaving took %v", took)
	}
	check(t, dir, slow.Compile(ctx, tiny()), abi.CodeInternal, reason.Error())
}

// waitFor waits for a file that another process writes.
func waitFor(t *testing.T, file string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if info, err := os.Stat(file); err == nil && info.Size() > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %s", file)
		}
	}
}

// A parent that dies cannot clean up; the kernel does.
func TestAChildDoesNotOutliveItsParent(t *testing.T) {
	dir, pidFile := t.TempDir(), filepath.Join(t.TempDir(), "pid")
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentEnv+"="+dir, parentEnv+"_CHILD="+script(t, "read id rest < /proc/self/stat; echo $id > "+pidFile+"; echo ready; exec sleep 1000"))
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, pidFile)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	stat := filepath.Join("/proc", strings.TrimSpace(string(text)), "stat")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		// A zombie is init's business.
		if state, err := os.ReadFile(stat); err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s is still there", text)
		}
	}
}

func TestManyCallsForOneModuleShareAChild(t *testing.T) {
	leavesNothing(t)
	dir := newDir(t)
	count := filepath.Join(t.TempDir(), "count")
	counting := script(t, fmt.Sprintf("echo x >> %s; exec -a wasmres-compile %s", count, self(t)))
	c := newCompiler(t, compiler.Config{CacheDir: dir, Executable: counting})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { check(t, t.TempDir(), c.Compile(t.Context(), functions(1000)), abi.CodeOK, "") })
	}
	wg.Wait()
	text, err := os.ReadFile(count)
	if err != nil || string(text) != "x\n" {
		t.Errorf("got %q, %v, want one child", text, err)
	}
}

// script makes a program of shell commands.
func script(t *testing.T, commands string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte("#!/bin/bash\n"+commands+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAChildIsNotBelieved(t *testing.T) {
	for name, tt := range map[string]struct{ commands, text string }{
		"nothing":            {"exit 0", "before it began"},
		"fails":              {"echo out of memory >&2; exit 2", "before it began"},
		"another program":    {"echo usage: x", `says "usage: x`},
		"ends early":         {"echo ready; exit 3", "exit status 3"},
		"is killed":          {"ulimit -t 1; echo ready; while :; do :; done", "signal: killed"},
		"garbage":            {"echo ready; echo '{]'", "the child answers"},
		"half an answer":     {"echo ready; printf '{'", "without an answer"},
		"unknown answer":     {`echo ready; echo '{"failed":"x"}'`, "compiler: x"},
		"endless":            {"echo ready; yes | tr -d '\\n'", "more than"},
		"endless and deaf":   {"trap '' PIPE; echo ready; while :; do printf x; done", "more than"},
		"noise":              {"yes >&2 & echo ready; exit 1", "exit status 1"},
		"a file missing":     {"echo ready; echo '{}'; sleep 1000", "has left 0 files"},
		"two files":          {"mkdir x; touch x/1 x/2; echo ready; echo '{}'", "has left 2 files"},
		"a link":             {"mkdir x; ln -s /etc/passwd x/1; echo ready; echo '{}'", "has left a L"},
		"never begins":       {"sleep 1000 & sleep 1000", "has not begun within 1s"},
		"leaves a straggler": {"sleep 1000 & echo ready; exit 1", "exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && (name == "is killed" || name == "never begins") {
				t.Skip("it waits for a limit")
			}
			leavesNothing(t)
			dir := newDir(t)
			cfg := compiler.Config{CacheDir: dir, Executable: script(t, tt.commands)}
			if name == "never begins" {
				cfg.Timeout = time.Second
			}
			start := time.Now()
			check(t, dir, newCompiler(t, cfg).Compile(t.Context(), tiny()), abi.CodeInternal, tt.text)
			if took := time.Since(start); took > forever/2 {
				t.Errorf("took %v", took)
			}
			if left := files(t, dir, "*.*ed"); len(left) > 0 {
				t.Errorf("remembered: %v", left)
			}
			check(t, dir, newCompiler(t, compiler.Config{CacheDir: dir}).Compile(t.Context(), tiny()), abi.CodeOK, "")
		})
	}
}

func TestAProgramThatIsNotThereIsNotHeldAgainstTheModule(t *testing.T) {
	leavesNothing(t)
	dir := newDir(t)
	c := newCompiler(t, compiler.Config{CacheDir: dir, Executable: filepath.Join(dir, "nothing")})
	check(t, dir, c.Compile(t.Context(), tiny()), abi.CodeInternal, "start child")
}

func TestAProcessThatForgotMainDoesNotBreed(t *testing.T) {
	defer func(args []string) { os.Args = args }(os.Args)
	os.Args = []string{"wasmres-compile"}
	c := newCompiler(t, compiler.Config{CacheDir: newDir(t)})
	if err := c.Compile(t.Context(), tiny()); err == nil || !strings.Contains(err.Error(), "compiler.Main") {
		t.Errorf("got %v, want an error that names compiler.Main", err)
	}
}
