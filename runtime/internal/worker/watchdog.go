package worker

import "time"

// graceSteps is how often the watchdog finds a call overdue before it ends the worker, in even steps of the grace. Where
// the machine is so busy that this process does not get to its own timers in time, the worker does not either, and has
// longer.
const graceSteps = 8

// watch begins to wait for the end of a call that must have ended by then, and a little; and to look how long it takes.
func (l *link) watch(deadline time.Time) {
	l.overdue.Store(false)
	l.late.Store(0)
	l.due.Store(int64(deadline.Sub(l.worker.began)))
	l.glance.Store(int64(patience))
	l.watchdog.Reset(min(patience, time.Until(deadline)+l.worker.runner.cfg.Grace/graceSteps))
}

// rest ends the waiting.
func (l *link) rest() {
	l.due.Store(0)
	l.watchdog.Stop()
	l.back()
	l.used = time.Now()
}

// onTimer ends a worker that has not ended a call in time. It may come late, when another call has begun. While this process
// is at work for the call it leaves that to check: the client may be keeping the guest waiting, so that the call has
// longer.
func (l *link) onTimer() {
	due := time.Duration(l.due.Load())
	if due == 0 {
		return
	}
	if left := due - time.Since(l.worker.began); left > 0 {
		l.late.Store(0)
		l.watchdog.Reset(min(l.linger(), left+l.worker.runner.cfg.Grace/graceSteps))
		return
	}
	if l.late.Add(1) < graceSteps || l.hearing.Load() {
		l.watchdog.Reset(l.worker.runner.cfg.Grace / graceSteps)
		return
	}
	l.end(due)
}

// check ends a worker that keeps this process busy beyond the time of the call, and reports whether it was ended for that.
// It is called after each message: those that have come by then are not read.
func (l *link) check() (ended bool) {
	if l.late.Load() < graceSteps {
		return false
	}
	if due := time.Duration(l.due.Load()); due != 0 && due < time.Since(l.worker.began) {
		l.end(due)
	}
	return l.overdue.Load()
}

// end ends the worker, unless the call that was due has ended after all.
func (l *link) end(due time.Duration) {
	if !l.due.CompareAndSwap(int64(due), 0) || l.overdue.Swap(true) {
		return
	}
	l.worker.runner.cfg.Logger.Warn("worker killed: a call has not ended when it must", "link", l.id)
	l.worker.process.Kill()
	l.conn.Shutdown() // the system takes its time with a process that has much memory
}
