//go:build linux

package hostile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A report is what a child has to say about a case: first that it begins, then how it went.
type report struct {
	Case  string
	Begun bool `json:",omitempty"` // nothing else is known yet

	attack.Outcome
	Modules int // loaded, or not

	Stall time.Duration // for which a neighbour did not run
	Peak  int64         // bytes of resident memory over those at the start
	Log   int64         // bytes
	Left  int           // goroutines that are still there when everything is closed
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
			if err := out.Encode(makeAttack(c, alive)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
	}
	return 0
}

// makeAttack runs a case. It calls alive now and then, as long as it gets on.
func makeAttack(c hostile.Case, alive func()) report {
	modules := c.Modules()
	before := goruntime.NumGoroutine()
	debug.FreeOSMemory()
	resetPeak()
	rss := resident()
	neighbour := watch()
	var log counter
	outcome, err := attackWithEngine(c, modules, &log, alive)
	r := report{Case: c.Name, Outcome: outcome, Modules: len(modules), Stall: neighbour.stop(), Peak: peak() - rss, Log: log.n}
	if err != nil {
		r.Codes["harness"], r.Failure = 1, err.Error()
	}
	for range 200 {
		if r.Left = goruntime.NumGoroutine() - before; r.Left <= 0 {
			break
		}
		<-time.After(5 * time.Millisecond) // what ends by itself is not reported
	}
	return r
}

// attackWithEngine makes the attack with an engine of this process.
func attackWithEngine(c hostile.Case, modules [][]byte, log io.Writer, alive func()) (attack.Outcome, error) {
	a := attack.New(c, provider.Config{
		Limits: attack.LimitsOf(c), Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	e, clean, err := openEngine(c.Compile)
	if err != nil {
		return a.Outcome, err
	}
	defer clean()
	a.Config.Runner = pool.InProcess{Engine: e}
	if c.Row == hostile.RowPhases {
		a.Config.Services = capability.Services{abi.ServiceConfig: capability.Config{"k": "v"}}
	}
	for i, binary := range modules {
		if i%50 == 49 {
			alive()
		}
		if err := a.Try(binary, aMoment); err != nil {
			return a.Outcome, err
		}
	}
	return a.Outcome, e.Close()
}

// openEngine opens an engine that compiles in this process or, when there is a limit to that, in one of its own.
func openEngine(limit time.Duration) (e engine.Engine, clean func(), err error) {
	if limit == 0 {
		e, err = enginetest.Kind().Open(engine.Config{})
		return e, func() {}, err
	}
	parent, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return nil, nil, err
	}
	clean = func() { _ = os.RemoveAll(parent) }
	dir := filepath.Join(parent, "cache")
	c, err := compiler.New(compiler.Config{Engine: enginetest.Kind(), CacheDir: dir, Timeout: limit, CPU: limit})
	if err == nil {
		e, err = enginetest.Kind().Open(engine.Config{CacheDir: dir, Precompile: c.Folder})
	}
	if err != nil {
		clean()
		return nil, nil, err
	}
	return e, clean, nil
}

// A counter counts what is written to it. slog writes one record at a time.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
