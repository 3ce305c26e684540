package process

import (
	"runtime"
	"sync"
)

// starter is the thread that starts all children, begun when the first one is. The kernel kills a child when the thread
// that started it ends, be the process alive or not, so this one ends with the process, and no code waits for its goroutine.
// What is set for this thread, every child inherits.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go forkThread(work)
	return work
})

// forkThread does work on a thread of its own, which is not the first of the process: that one may have children that were
// others'.
func forkThread(work <-chan func()) {
	runtime.LockOSThread()
	if onFirstThread() {
		go forkThread(work)
		select {} // or the next would be here again
	}
	prepareStarter()
	for f := range work {
		f()
	}
}

// onForkThread runs f on the starter's thread and waits for it.
func onForkThread(f func()) {
	done := make(chan struct{})
	starter() <- func() {
		defer close(done)
		f()
	}
	<-done
}
