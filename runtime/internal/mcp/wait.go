package mcp

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// slowAfter is how long any client may keep a source waiting.
const slowAfter = 20 * time.Millisecond

// A Wait is one period in which a client keeps a source waiting.
type Wait struct {
	core      *Core
	abort     func()
	timer     *time.Timer
	timerDone chan struct{} // closed when onTimer has ended

	aborted bool // set by onTimer
}

// Wait begins a write for which a source waits; the caller calls End after the write. If the write lasts longer than 20
// ms while SlowReaders other clients keep sources waiting, Wait calls abort, which must make the write fail. Otherwise
// clients that do not read could occupy all calls.
func (c *Core) Wait(abort func()) *Wait {
	w := &Wait{core: c, abort: abort, timerDone: make(chan struct{})}
	w.timer = time.AfterFunc(slowAfter, w.onTimer)
	return w
}

func (w *Wait) onTimer() {
	defer close(w.timerDone)
	if w.core.slow.Add(1) > int64(w.core.cfg.SlowReaders) && w.abort != nil {
		w.aborted = true
		w.abort()
	}
}

// End ends the period. An error says that the write was aborted; nothing more can be written then.
func (w *Wait) End() error {
	if w.timer.Stop() {
		return nil
	}
	<-w.timerDone
	w.core.slow.Add(-1)
	if w.aborted {
		return abi.Errorf(abi.CodeBusy, "too many clients read slowly")
	}
	return nil
}
