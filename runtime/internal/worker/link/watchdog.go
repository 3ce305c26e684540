package link

import (
	"context"
	"sync"
	"time"
)

// maxLateChecks is how often a call is found overdue before its worker is killed, in equal steps of the grace. On a
// busy machine the parent's timers are late, so that the worker, which is late as well, gets more time.
const maxLateChecks = 8

// watch begins to watch a call for its deadline and its duration.
func (l *link) watch(deadline time.Time) {
	l.overdue.Store(false)
	l.lateChecks.Store(0)
	l.due.Store(int64(deadline.Sub(l.set.began)))
	l.checkInterval.Store(int64(backgroundAfter))
	now := time.Now()
	l.watchdog.Start(now.Add(min(backgroundAfter, deadline.Sub(now)+l.set.cfg.Grace/maxLateChecks)))
}

// watchAgain runs checkDeadline again after a while. The check that calls it may be late: it does not put off the first one of
// the next call.
func (l *link) watchAgain(after time.Duration) { l.watchdog.StartSooner(time.Now().Add(after)) }

// endWatch ends the effect of watch.
func (l *link) endWatch() {
	l.endChecks()
	l.endBackground()
	l.used = time.Now()
}

// endChecks ends the checks of a call. One that is under way does nothing more: follow finds no call to follow.
func (l *link) endChecks() {
	l.due.Store(0)
	l.underWay.Store(nil) // before forget
	l.watchdog.Stop()
	l.caller.forget()
}

// checkDeadline kills a worker that has not ended a call in time. It may run late, when another call has begun. While
// the parent works for the call it leaves the check to endIfLate, since a client that keeps the guest waiting extends
// the deadline.
func (l *link) checkDeadline() {
	due := time.Duration(l.due.Load())
	if due == 0 {
		return
	}
	if time.Since(l.set.began) >= due {
		due = l.movedDue(due)
	}
	if left := due - time.Since(l.set.began); left > 0 {
		l.lateChecks.Store(0)
		l.follow()
		l.watchAgain(min(l.checkLongCall(), left+l.set.cfg.Grace/maxLateChecks))
		return
	}
	if l.lateChecks.Add(1) < maxLateChecks || l.inParent.Load() {
		l.watchAgain(l.set.cfg.Grace / maxLateChecks)
		return
	}
	l.kill(due)
}

// movedDue returns the deadline of the call under way, which has moved if its guest was paused, given the one that was due.
func (l *link) movedDue(due time.Duration) time.Duration {
	c := l.underWay.Load()
	if c == nil {
		return due
	}
	if moved := c.Deadline().Sub(l.set.began); moved > due && l.due.CompareAndSwap(int64(due), int64(moved)) {
		return moved
	}
	return due
}

// endIfLate kills a worker that keeps the parent busy beyond the deadline of the call, and reports whether it did. It
// runs after each message; later messages are not read.
func (l *link) endIfLate() (killed bool) {
	if l.lateChecks.Load() < maxLateChecks {
		return false
	}
	if due := time.Duration(l.due.Load()); due != 0 && due < time.Since(l.set.began) {
		l.kill(due)
	}
	return l.overdue.Load()
}

// kill kills the worker, unless the call that was due has ended after all.
func (l *link) kill(due time.Duration) {
	if !l.due.CompareAndSwap(int64(due), 0) || l.overdue.Swap(true) {
		return
	}
	l.set.cfg.Logger.Warn("worker killed: a call did not end in time", "link", l.id)
	l.set.cfg.Process.Kill()
	l.conn.Shutdown() // the kernel takes long to end a process with much memory
}

// A caller is that of a long call, whose end the worker is told of: the worker sees the deadline by itself, but not a
// cancellation. Most calls end before the parent waits for that. The zero value waits for none.
type caller struct {
	mu   sync.Mutex
	stop func() bool // ends the wait; nil for none; guarded by mu
}

// follow waits for the end of the caller of the call under way.
func (l *link) follow() {
	l.caller.mu.Lock()
	defer l.caller.mu.Unlock()
	c, number := l.underWay.Load(), l.number.Load()
	if c == nil || l.caller.stop != nil {
		return
	}
	l.caller.stop = context.AfterFunc(c.Context(), func() { l.set.cfg.Process.Cancel(l.id, number) })
}

// forget ends the wait of follow. The call is under way no more.
func (c *caller) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
}
