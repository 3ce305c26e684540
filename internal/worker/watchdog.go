package worker

import "time"

// maxBarks is how often a watchdog barks before it bites, in even steps of the grace. Where the machine is so busy that this
// process does not get to its own timers in time, the worker does not get to its own either, and has longer.
const maxBarks = 8

// watch begins to wait for the end of a call that must have ended by then, and a little; and to look how long it takes.
func (l *link) watch(deadline time.Time) {
	l.overdue.Store(false)
	l.barks.Store(0)
	l.due.Store(int64(deadline.Sub(l.worker.began)))
	l.glance.Store(int64(patience))
	l.watchdog.Reset(min(patience, time.Until(deadline)+l.worker.runner.cfg.Grace/maxBarks))
}

// rest ends the waiting.
func (l *link) rest() {
	l.due.Store(0)
	l.watchdog.Stop()
	l.back()
	l.used = time.Now()
}

// bark kills a worker that has not ended a call in time. It may come late, when another call has begun.
func (l *link) bark() {
	due := time.Duration(l.due.Load())
	if due == 0 {
		return
	}
	if left := due - time.Since(l.worker.began); left > 0 {
		l.watchdog.Reset(min(l.linger(), left+l.worker.runner.cfg.Grace/maxBarks))
		return
	}
	if l.hearing.Load() || l.barks.Add(1) < maxBarks {
		l.watchdog.Reset(l.worker.runner.cfg.Grace / maxBarks)
		return
	}
	if !l.due.CompareAndSwap(int64(due), 0) { // it has ended after all
		return
	}
	l.overdue.Store(true)
	l.worker.runner.cfg.Logger.Warn("worker killed: a call has not ended when it must", "link", l.id)
	l.worker.process.Kill()
	l.conn.Shut() // the system takes its time with a process that has much memory
}
