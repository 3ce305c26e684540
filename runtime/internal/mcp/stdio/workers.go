package stdio

import (
	"runtime"
	"sync"
	"time"
)

// maxQueueTime is how long a request may wait before another goroutine starts.
const maxQueueTime = time.Millisecond

// workers are goroutines that run requests in the order of arrival. While requests are quick, minWorkers goroutines run
// them, which costs less than a goroutine for each. More start when all of them wait for something. The first ones stay
// until end.
type workers struct {
	// fixed at creation
	run        func(*pendingRequest)
	onFlush    func()
	minWorkers int // goroutines that stay
	maxWorkers int

	mu           sync.Mutex // guards the fields below
	work         *sync.Cond // there is a request for one of the idle
	idle         int        // goroutines that wait for a request, and have not been woken
	ended        bool
	queue        []*pendingRequest // from next on
	next         int
	running      int // goroutines
	begun        int // requests
	due          int // requests added before the timer was set
	timer        *time.Timer
	timerRunning bool
}

// newWorkers makes workers of maxWorkers goroutines at most. onFlush is called some time after each scheduleFlush, and may
// be called at other times.
func newWorkers(maxWorkers int, run func(*pendingRequest), onFlush func()) *workers {
	w := &workers{run: run, onFlush: onFlush, minWorkers: min(maxWorkers, 4*runtime.GOMAXPROCS(0)), maxWorkers: maxWorkers}
	w.work = sync.NewCond(&w.mu)
	return w
}

// end ends each goroutine as soon as it has nothing to do.
func (w *workers) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended, w.idle = true, 0
	w.work.Broadcast()
}

// add queues a request.
func (w *workers) add(p *pendingRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next > 0 && w.next >= len(w.queue)/2 { // the queue may never be empty
		n := copy(w.queue, w.queue[w.next:])
		clear(w.queue[n:])
		w.queue, w.next = w.queue[:n], 0
	}
	w.queue = append(w.queue, p)
	switch {
	case w.idle > 0:
		w.idle--
		w.work.Signal()
	case w.running < w.minWorkers:
		w.startLocked()
	case !w.timerRunning:
		w.setTimerLocked()
	}
}

func (w *workers) startLocked() {
	w.running++
	go w.serve()
}

// serve runs requests until take returns nil.
func (w *workers) serve() {
	for p := w.take(); p != nil; p = w.take() {
		w.run(p)
	}
}

// take waits for a request. It returns nil when the calling goroutine must end.
func (w *workers) take() *pendingRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.next == len(w.queue) {
		w.queue, w.next = w.queue[:0], 0
		if w.ended || w.running > w.minWorkers {
			w.running--
			return nil
		}
		w.idle++
		w.work.Wait()
	}
	p := w.queue[w.next]
	w.queue[w.next] = nil
	w.next++
	w.begun++
	return p
}

// hasMore reports whether a request is queued.
func (w *workers) hasMore() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.next < len(w.queue)
}

// scheduleFlush schedules a call of onFlush.
func (w *workers) scheduleFlush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.timerRunning {
		w.setTimerLocked()
	}
}

func (w *workers) setTimerLocked() {
	w.timerRunning, w.due = true, w.begun+len(w.queue)-w.next
	if w.timer == nil {
		w.timer = time.AfterFunc(maxQueueTime, w.addWorkers)
		return
	}
	w.timer.Reset(maxQueueTime)
}

// addWorkers starts a goroutine for each request that was queued when the timer was set.
func (w *workers) addWorkers() {
	defer w.onFlush() // after mu is unlocked
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timerRunning = false
	for late := w.due - w.begun; late > 0 && w.running < w.maxWorkers; late-- {
		w.startLocked()
	}
	if w.next < len(w.queue) {
		w.setTimerLocked()
	}
}
