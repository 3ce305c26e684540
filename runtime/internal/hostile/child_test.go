//go:build linux

package hostile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// Limits of every child that are not those of its case.
const (
	stackLimit  = 1 << 20
	outputLimit = 1 << 20
	logLimit    = 16 << 10
	callLimit   = 32
)

// A report is what a child has to say about a case: first that it begins, then how it went.
type report struct {
	Case  string
	Begun bool `json:",omitempty"` // nothing else is known yet

	Codes   map[string]int // how loads and calls ended, by name of the code
	After   map[string]int // how the reads afterwards ended
	Failure string         // of the last that failed, clipped
	Modules int            // loaded, or not

	Load, Call time.Duration // the longest
	Stall      time.Duration // for which a neighbour did not run
	Peak       int64         // bytes of resident memory over those at the start
	Alloc      int64         // most bytes of garbage that the refusal of a module made, over the module's own
	Log        int64         // bytes
	Text       int           // length of the longest error text
	Unclean    string        // an error text with control characters
	Left       int           // goroutines that are still there when everything is closed
}

// childMain runs cases and reports each to its parent. It may hang, crash, and take memory: that is what it is for.
func childMain(names string) int {
	limitMemory()
	out := json.NewEncoder(os.NewFile(3, "report"))
	cases := append(hostile.Cases(), hostile.Generated(true)...)
	for name := range strings.SplitSeq(names, ",") {
		for _, c := range cases {
			if c.Name != name {
				continue
			}
			alive := func() { _ = out.Encode(report{Case: name, Begun: true}) }
			alive()
			if err := out.Encode(attack(c, alive)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
	}
	return 0
}

// An attempt is a case under way.
type attempt struct {
	hostile.Case
	cfg provider.Config

	mu sync.Mutex // guards the report
	report
}

// attack runs a case. It calls alive now and then, as long as it gets on.
func attack(c hostile.Case, alive func()) report {
	modules := c.Modules()
	before := goruntime.NumGoroutine()
	debug.FreeOSMemory()
	resetPeak()
	rss := resident()
	neighbour := watch()
	a := &attempt{Case: c, report: report{Case: c.Name, Codes: map[string]int{}, After: map[string]int{}, Modules: len(modules)}}
	var log counter
	err := a.run(modules, &log, alive)
	a.Stall = neighbour.stop()
	a.Peak, a.Log = peak()-rss, log.n
	if err != nil {
		a.Codes["harness"], a.Failure = 1, err.Error()
	}
	for range 200 {
		if a.Left = goruntime.NumGoroutine() - before; a.Left <= 0 {
			break
		}
		<-time.After(5 * time.Millisecond) // what ends by itself is not reported
	}
	return a.report
}

// limitsOf returns those of a case.
func limitsOf(c hostile.Case) limits.Limits {
	l := limits.Limits{
		Memory: c.Memory, Timeout: c.Timeout, Stack: stackLimit, Output: outputLimit, Log: logLimit, Calls: callLimit,
	}
	if l.Memory == 0 {
		l.Memory = hostile.Memory
	}
	if l.Timeout == 0 {
		l.Timeout = hostile.Timeout
	}
	if !slices.Contains(c.Want, "deadline") {
		l.Timeout = max(l.Timeout, time.Second) // what ends by itself may take its time on a busy machine
	}
	return l
}

func (a *attempt) run(modules [][]byte, log io.Writer, alive func()) error {
	e, clean, err := openEngine(a.Compile)
	if err != nil {
		return err
	}
	defer clean()
	a.cfg = provider.Config{
		Runner: pool.InProcess{Engine: e}, Limits: limitsOf(a.Case),
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if a.Row == hostile.RowPhases {
		a.cfg.Services = capability.Services{abi.ServiceConfig: capability.Config{"k": "v"}}
	}
	for i, binary := range modules {
		if i%50 == 49 {
			alive()
		}
		if err := a.try(binary); err != nil {
			return err
		}
	}
	return e.Close()
}

// openEngine opens an engine that compiles in this process or, when there is a limit to that, in one of its own.
func openEngine(limit time.Duration) (e *wazero.Engine, clean func(), err error) {
	if limit == 0 {
		e, err = wazero.Open(wazero.Config{})
		return e, func() {}, err
	}
	parent, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return nil, nil, err
	}
	clean = func() { _ = os.RemoveAll(parent) }
	dir := filepath.Join(parent, "cache")
	c, err := compiler.New(compiler.Config{CacheDir: dir, Timeout: limit, CPU: limit})
	if err == nil {
		e, err = wazero.Open(wazero.Config{CacheDir: dir, Precompile: c.Folder})
	}
	if err != nil {
		clean()
		return nil, nil, err
	}
	return e, clean, nil
}

// try loads a module, as often as the case says, and asks each load.
func (a *attempt) try(binary []byte) error {
	var loaded []*provider.Provider
	for range max(a.Loads, 1) {
		if m := a.load(binary); m != nil {
			loaded = append(loaded, m)
		}
	}
	for _, m := range loaded {
		if a.Op == abi.OpDescribe {
			a.note(a.Codes, nil)
			continue
		}
		a.ask(m)
		if a.Case.After != "" {
			a.note(a.report.After, retry(m, a.Case.After, aMoment))
		}
	}
	for _, m := range loaded {
		if err := m.Close(); err != nil {
			return err
		}
	}
	return nil
}

// load returns nil when the module is refused.
func (a *attempt) load(binary []byte) *provider.Provider {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	start := time.Now()
	m, err := provider.Open(context.Background(), a.cfg, binary)
	a.Load = max(a.Load, time.Since(start))
	if err == nil {
		return m
	}
	goruntime.ReadMemStats(&after)
	a.Alloc = max(a.Alloc, int64(after.TotalAlloc-before.TotalAlloc)-int64(3*len(binary)))
	a.note(a.Codes, err)
	return nil
}

// ask asks what the case says, as often and by as many callers as it says.
func (a *attempt) ask(m *provider.Provider) {
	var wg sync.WaitGroup
	for range max(a.Parallel, 1) {
		wg.Go(func() {
			for range max(a.Times, 1) {
				start := time.Now()
				_, err := call(m, a.Op, a.URI)
				took := time.Since(start)
				a.note(a.Codes, err)
				a.mu.Lock()
				a.Call = max(a.Call, took)
				a.mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// retry reads what must be readable. On a busy machine the deadline of an attack may be too short for honest work, and for
// the start of a worker that takes the place of one that was killed: it tries again for a while.
func retry(m *provider.Provider, uri string, while time.Duration) (err error) {
	for end := time.Now().Add(while); ; {
		if _, err = call(m, abi.OpRead, uri); abi.CodeOf(err) != abi.CodeDeadline || time.Now().After(end) {
			return err
		}
	}
}

// call asks as the host does: only reads and polls have contents.
func call(m *provider.Provider, op abi.Op, uri string) (*abi.Reply, error) {
	if op == abi.OpRead || op == abi.OpPoll {
		return m.Call(context.Background(), op, &abi.Request{URI: uri}, sink{})
	}
	return m.Call(context.Background(), op, &abi.Request{URI: uri}, nil)
}

// texts are what an error says to everybody, and to the log.
func texts(err error) (public, private string) {
	var known *abi.Error
	if errors.As(err, &known) && known.Cause != nil {
		private = known.Cause.Error()
	}
	return err.Error(), private
}

// note counts an outcome, and looks at the text of an error with everything that may go to a log.
func (a *attempt) note(codes map[string]int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	codes[abi.CodeOf(err).String()]++
	if err == nil {
		return
	}
	public, private := texts(err)
	a.Text = max(a.Text, len(public), len(private))
	if strings.ContainsFunc(public, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
		a.Unclean = fmt.Sprintf("%.200q", public)
	}
	a.Failure = fmt.Sprintf("%.200s (%.200s)", public, private)
}

// A counter counts what is written to it. slog writes one record at a time.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
