package worker_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// patience is how long a test waits for what should happen at once: the machine may be busy.
const patience = 30 * time.Second

// takesLong skips a test with -short.
func takesLong(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a second or more")
	}
}

// newRunner makes a runner over the shared cache.
func newRunner(tb testing.TB, cfg worker.Config) *worker.Runner {
	tb.Helper()
	return newRunnerIn(tb, guesttest.CacheDir(tb), cfg)
}

// newRunnerIn makes a runner over a cache.
func newRunnerIn(tb testing.TB, dir string, cfg worker.Config) *worker.Runner {
	tb.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(newOutput(tb), nil))
	}
	c, err := compiler.New(compiler.Config{Engine: enginetest.Kind().InWorker(), CacheDir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Engine, cfg.Compile, cfg.Invalidate = enginetest.Kind().InWorker(), c.FolderOf, c.Invalidate
	if cfg.Code == nil && c.MapsCode() {
		cfg.Code = c.Code
	}
	if cfg.Images == nil {
		cfg.Images = func(ctx context.Context) (worker.ImageStore, error) { return c.Images(ctx) }
	}
	r, err := worker.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func wat(tb testing.TB, name string) []byte {
	tb.Helper()
	binary, err := os.ReadFile("../../../testdata/wasm/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return binary
}

// load loads a module until the end of the test.
func load(tb testing.TB, cfg provider.Config, binary []byte) *provider.Provider {
	tb.Helper()
	return loadIn(tb, tb.Context(), cfg, binary)
}

func loadIn(tb testing.TB, ctx context.Context, cfg provider.Config, binary []byte) *provider.Provider {
	tb.Helper()
	m, err := provider.Open(ctx, cfg, binary)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m
}

// loadPuppet loads a guest that does as it is told.
func loadPuppet(tb testing.TB, cfg provider.Config, next func(ctx context.Context, n int, req *abi.Request) guesttest.Step) *provider.Provider {
	tb.Helper()
	p := puppetThat(next)
	cfg.Services = p.Services()
	return load(tb, cfg, p.Binary(tb))
}

// puppetThat makes a guest that does as it is told.
func puppetThat(next func(ctx context.Context, n int, req *abi.Request) guesttest.Step) *guesttest.Puppet {
	p := puppet()
	p.Next = func(ctx context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step { return next(ctx, n, req) }
	return p
}

// puppet makes a guest that does nothing yet.
func puppet() *guesttest.Puppet {
	return &guesttest.Puppet{Manifest: abi.Manifest{Name: "puppet", Ops: 1<<abi.OpRead | 1<<abi.OpList, URIPrefixes: []string{"x:"}}}
}

var fine = guesttest.Emit((&abi.Content{URI: "x:o", Kind: abi.KindText, Inline: []byte("fine")}).Append(nil))

// well is a play in which all goes well.
func well(_ context.Context, n int, _ *abi.Request) guesttest.Step {
	if n == 0 {
		return fine
	}
	return guesttest.Return(abi.CodeOK)
}

// A sink keeps what it is given, and may do something each time.
type sink struct {
	heads  []abi.Content
	body   []byte
	size   int
	onBody func(size int)
}

func (s *sink) Content(c *abi.Content) error { s.heads = append(s.heads, *c); return nil }
func (s *sink) Progress(abi.Progress)        {}
func (s *sink) Body(p []byte) error {
	if s.size += len(p); len(s.body) < 1<<20 {
		s.body = append(s.body, p...)
	}
	if s.onBody != nil {
		s.onBody(s.size)
	}
	return nil
}

func read(ctx context.Context, m *provider.Provider, uri string) (string, error) {
	var s sink
	_, err := m.Call(ctx, abi.OpRead, &abi.Request{URI: uri}, &s)
	m.AfterResponse()
	return string(s.body), err
}

// works fails the test when a module that should answer does not.
func works(t *testing.T, m *provider.Provider) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if got, err := read(ctx, m, "x:o"); got != "fine" || err != nil {
		t.Errorf("got %q, %v, want fine", got, err)
	}
}

// recovers waits until a module answers again.
func recovers(t *testing.T, m *provider.Provider) {
	t.Helper()
	eventually(t, func() bool {
		got, err := read(t.Context(), m, "x:o")
		return got == "fine" && err == nil
	})
}

// pause is the time between two looks at what comes about by itself: a test that looks all the time takes the processor from
// what it waits for.
const pause = time.Millisecond

// eventually waits for what comes about by itself.
func eventually(tb testing.TB, happened func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(patience); !happened(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			tb.Fatal("it did not happen")
		}
	}
}

// children are the processes this one has started, by their names; those of zombies are empty.
func children(tb testing.TB) map[int]string {
	tb.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children") // of each thread
	if err != nil || len(lists) == 0 {
		tb.Fatalf("the kernel lists no children: %v", err)
	}
	found := map[int]string{}
	for _, list := range lists {
		text, _ := os.ReadFile(list) // none when the thread has ended since
		for _, field := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				tb.Fatalf("%s: %q is no process: %v", list, field, err)
			}
			if pid == process.ForkServer() {
				continue
			}
			name, _ := os.ReadFile("/proc/" + field + "/cmdline")
			found[pid] = string(bytes.TrimRight(name, "\x00"))
		}
	}
	return found
}

// workers are the numbers of all workers there are, the oldest first: standby workers are at the end.
func workers(tb testing.TB) (pids []int) {
	tb.Helper()
	for pid, name := range children(tb) {
		if name == "wasmres-worker" {
			pids = append(pids, pid)
		}
	}
	slices.SortFunc(pids, func(a, b int) int { return cmp.Or(cmp.Compare(startOf(tb, a), startOf(tb, b)), cmp.Compare(a, b)) })
	return pids
}

// startOf returns when a process was started, in ticks since the system was; 0 of a process that has gone. Its number does not tell
// which of two is older: the system begins again with low numbers.
func startOf(tb testing.TB, pid int) (ticks uint64) {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	const start = 19 // after the name
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if ticks, err = strconv.ParseUint(fields[start], 10, 64); err != nil {
		tb.Fatal(err)
	}
	return ticks
}

// workerOf returns the one worker there is that is not on standby.
func workerOf(tb testing.TB) (pid int) {
	tb.Helper()
	eventually(tb, func() bool {
		all := workers(tb)
		if len(all) > 0 {
			pid = all[0]
		}
		return len(all) > 0
	})
	return pid
}

// standbyOf returns the standby worker, once there is one beside the one that runs.
func standbyOf(tb testing.TB) (pid int) {
	tb.Helper()
	eventually(tb, func() bool {
		all := workers(tb)
		if len(all) > 1 {
			pid = all[1]
		}
		return len(all) > 1
	})
	return pid
}

// signal sends the worker a signal, and waits until it stands still if that is what it is for.
func signal(tb testing.TB, s unix.Signal) (pid int) {
	tb.Helper()
	pid = workerOf(tb)
	signalTo(tb, pid, s)
	return pid
}

// signalTo is signal to any worker. A process goes on for a while after it was sent SIGSTOP: as long as its threads do not notice.
func signalTo(tb testing.TB, pid int, s unix.Signal) {
	tb.Helper()
	if err := unix.Kill(pid, s); err != nil {
		tb.Fatal(err)
	}
	if s != unix.SIGSTOP {
		return
	}
	if err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		tb.Fatal(err)
	}
}

// leavesNothing fails the test when it leaves a process, a descriptor, a goroutine or much memory behind.
func leavesNothing(t *testing.T) {
	t.Helper()
	process.ForkServer() // or the test may start it, by its ninth child or when it has rested
	before := takeStock(t)
	t.Cleanup(func() {
		var now stock
		for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
			now = takeStock(t)
			if now.files <= before.files && now.goroutines <= before.goroutines && now.children == 0 {
				break
			}
			if time.Now().After(deadline) {
				stacks := make([]byte, 64<<10)
				t.Fatalf("got %+v, at the start %+v, children %v\n%s", now, before, children(t), stacks[:goruntime.Stack(stacks, true)])
			}
		}
		debug.FreeOSMemory()
		if now = takeStock(t); now.memory > before.memory+128<<10 {
			t.Errorf("got %+v, at the start %+v", now, before)
		}
	})
}

type stock struct{ files, goroutines, children, memory int }

func takeStock(t *testing.T) (s stock) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return stock{len(files), goruntime.NumGoroutine(), len(children(t)), status(t, "self", "VmRSS")}
}

// status returns a number of a process's status, as memory in KiB.
func status(tb testing.TB, pid any, field string) (value int) {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%v/status", pid))
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n"+field+":")
	fmt.Sscan(rest, &value)
	return value
}

// A journal is a log several goroutines write.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

func (j *journal) debug() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// An output is that of a test while it runs. A deadline may still be checked after the test has ended.
type output struct {
	mu sync.Mutex
	to io.Writer // nil when the test has ended
}

func newOutput(tb testing.TB) *output {
	o := &output{to: tb.Output()}
	tb.Cleanup(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.to = nil
	})
	return o
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == nil {
		return len(p), nil
	}
	return o.to.Write(p)
}
