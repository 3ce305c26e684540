package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/wasmres/wasmres/internal/process"
	"github.com/wasmres/wasmres/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/engine"
)

// Main does the work of a worker when this process was started as one, and then exits; otherwise it returns at once.
// Call it first in main, and in TestMain of tests that run workers.
func Main() { MainWith(Inside{}) }

// Inside changes what happens within a worker, for tests that look at the wall from there or take away what stands
// before it.
type Inside struct {
	// Sealed is called when the worker has locked itself down, before anything of the guest runs. Nil for nothing.
	Sealed func()
	// Engine takes the place of the engine it is given. Nil leaves that.
	Engine func(engine.Engine) engine.Engine
}

// MainWith is [Main] for tests.
func MainWith(inside Inside) {
	process.Main()
	if len(os.Args) != 1 || os.Args[0] != protocol.ProcessName {
		return
	}
	process.Tie()
	hold()
	if err := work(inside); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// work serves until the parent closes the control connection. What goes wrong before the worker is ready is told the
// parent on the first link.
func work(inside Inside) error {
	control, err := protocol.Open(os.NewFile(protocol.FDControl, "control"), 2)
	if err != nil {
		return err
	}
	first, err := openLink(0, os.NewFile(protocol.FDLink, "link"), os.NewFile(protocol.FDWindow, "window"))
	if err != nil {
		return err
	}
	program, err := findProgram()
	if err != nil {
		return errors.Join(err, first.fail(err))
	}
	w, err := open(control, first, program, inside)
	if err != nil {
		return errors.Join(err, first.fail(err))
	}
	return w.serve(control, first)
}

// open waits for the start request, which may take long to come, and does what it says.
func open(control *protocol.Conn, first *inner, program program, inside Inside) (*child, error) {
	kind, text, err := control.Next()
	if err != nil {
		return nil, err
	}
	if kind != protocol.KindStart {
		return nil, control.Unexpected(kind)
	}
	c := &child{links: map[uint32]*inner{}, program: program, inside: inside}
	if err := json.Unmarshal(text, &c.request); err != nil {
		return nil, err
	}
	files, err := control.TakeFiles(1)
	if err != nil {
		return nil, err
	}
	reports, err := protocol.Open(os.NewFile(protocol.FDReports, "reports"), 0)
	if err != nil {
		return nil, err
	}
	c.reports = &reporter{conn: reports}
	return c, c.load(first, files[0])
}

// serve does what the parent says until it is gone.
func (c *child) serve(control *protocol.Conn, first *inner) error {
	if err := c.ready(first); err != nil {
		return err
	}
	c.begin(first)
	time.AfterFunc(restTime, c.rest) // ends with the process
	for {
		kind, payload, err := control.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.obey(control, kind, payload); err != nil {
			return err
		}
	}
}

// obey carries out one message of the control connection.
func (c *child) obey(control *protocol.Conn, kind protocol.Kind, payload []byte) error {
	switch kind {
	case protocol.KindNewLink:
		return c.newLink(control, payload)
	case protocol.KindCancel:
		var m protocol.Cancel
		if err := m.Decode(payload); err != nil {
			return err
		}
		c.links[m.Link].cancel(m.Seq)
	case protocol.KindEndSession:
		c.guests.EndSession(string(payload))
	default:
		return control.Unexpected(kind)
	}
	return nil
}

// newLink opens another link.
func (c *child) newLink(control *protocol.Conn, payload []byte) error {
	var m protocol.NewLink
	if err := m.Decode(payload); err != nil {
		return err
	}
	files, err := control.TakeFiles(2)
	if err != nil {
		return err
	}
	l, err := openLink(m.ID, files[0], files[1])
	if err != nil {
		return err
	}
	c.begin(l)
	return nil
}
