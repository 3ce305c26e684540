package process

import (
	"runtime"
	"sync"
)

// starter is the thread that starts all children, from the first on. The kernel kills a child when the thread that
// started it ends, even if the process lives; so this thread ends with the process, and no code waits for its
// goroutine. Children inherit the attributes of this thread.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go forkThread(work)
	return work
})

// forkThread runs work on its own thread. That is not the first thread of the process, which may have inherited
// children of another program.
func forkThread(work <-chan func()) {
	runtime.LockOSThread()
	if onFirstThread() {
		go forkThread(work)
		select {} // keep the first thread, so that the next goroutine gets another
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
