package mcp

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// moment is for how long any client may keep a source waiting.
const moment = 20 * time.Millisecond

// A Wait is one time for which a client keeps a source waiting.
type Wait struct {
	core  *Core
	abort func()
	timer *time.Timer
	over  chan struct{} // closed when late has ended

	aborted bool // set by late
}

// Wait is to be called before a write for which a source waits, and End of what it gives after it. Where the client has
// not taken what is written after a moment, and as many others keep sources waiting as may, abort is called, which has the
// write fail: otherwise clients that read nothing would keep all the calls there may be.
func (c *Core) Wait(abort func()) *Wait {
	w := &Wait{core: c, abort: abort, over: make(chan struct{})}
	w.timer = time.AfterFunc(moment, w.late)
	return w
}

func (w *Wait) late() {
	defer close(w.over)
	if w.core.slow.Add(1) > int64(w.core.cfg.SlowReaders) && w.abort != nil {
		w.aborted = true
		w.abort()
	}
}

// End ends the waiting. The error says that it was aborted; nothing can be written then.
func (w *Wait) End() error {
	if w.timer.Stop() {
		return nil
	}
	<-w.over
	w.core.slow.Add(-1)
	if w.aborted {
		return abi.Errorf(abi.CodeBusy, "too many clients read slowly")
	}
	return nil
}
