package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// Main acts as a worker and exits, if this process was started as one; otherwise it returns at once. Call it first in
// main, and in TestMain of tests that run workers.
func Main() { MainWith(Hooks{}) }

// Hooks change a worker for tests: to check its isolation from inside, or to remove a layer.
type Hooks struct {
	// Sealed is called when the worker has locked itself down, before the guest runs. Nil does nothing.
	Sealed func()
	// Engine replaces the engine. Nil keeps it.
	Engine func(engine.Engine) engine.Engine
}

// MainWith is [Main] for tests.
func MainWith(hooks Hooks) {
	process.Main()
	if len(os.Args) != 1 || os.Args[0] != protocol.ProcessName {
		return
	}
	process.Tie()
	delayGC()
	if err := work(hooks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// work serves calls until the parent closes the control connection. It reports an error before the worker is ready on
// the first link.
func work(hooks Hooks) error {
	control, err := protocol.Open(os.NewFile(protocol.FDControl, "control"), protocol.MaxFiles)
	if err != nil {
		return err
	}
	first, err := newConnection(0, os.NewFile(protocol.FDLink, "link"), os.NewFile(protocol.FDWindow, "window"))
	if err != nil {
		return err
	}
	program, err := findProgram()
	if err != nil {
		return errors.Join(err, first.sendFailed(err))
	}
	c := &child{control: control, program: program, hooks: hooks, links: map[uint32]*connection{}}
	if err := c.start(first); err != nil {
		return errors.Join(err, first.sendFailed(err))
	}
	if err := c.sendReady(first); err != nil {
		return err
	}
	return c.serve(first)
}

// prepare does what each start needs and no request says, while a standby worker waits for one: the first use of a type by
// package json, of the metrics of Go, and of an engine takes many times as long as the next. For a worker that has not
// stood by it would only delay the start.
func prepare() {
	_ = json.Unmarshal([]byte(`{"Limits":{}}`), &protocol.StartRequest{})
	_, _ = json.Marshal(protocol.ReadyMessage{})
	memoryOfGo()
	confine.Prepare()
	engines.Warm()
}

// start waits for the start request, which may take long, and carries it out.
func (c *child) start(first *connection) error {
	if !c.control.Waiting() {
		prepare()
	}
	kind, text, err := c.control.Next()
	if err != nil {
		return err
	}
	if kind != protocol.KindStart {
		return c.control.Unexpected(kind)
	}
	if err := json.Unmarshal(text, &c.request); err != nil {
		return err
	}
	files, err := c.control.TakeFiles(c.request.Files())
	if err != nil {
		return err
	}
	reports, err := protocol.Open(os.NewFile(protocol.FDReports, "reports"), 0)
	if err != nil {
		return err
	}
	c.log = &logWriter{conn: reports}
	return c.load(first, files)
}
