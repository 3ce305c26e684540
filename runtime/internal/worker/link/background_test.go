package link

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
)

// busyHost is a process whose machine others use. It blocks the question for that while mu is held.
type busyHost struct {
	Process
	mu sync.Mutex
}

func (p *busyHost) SetBackground(bool) {}
func (p *busyHost) Contended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return true
}

// Several goroutines may check a call at once, and late: it is one reason to run in the background, and none once it has
// ended.
func TestACallIsOneReasonToRunInTheBackground(t *testing.T) {
	p := &busyHost{}
	s := New(Config{Process: p, Grace: time.Second})
	l := &link{set: s, watchdog: deadline.NewWatch(func() {})}
	for range 1000 {
		l.watch(time.Now().Add(time.Hour))
		var checks sync.WaitGroup
		p.mu.Lock()
		for range 3 {
			checks.Go(func() { l.checkLongCall() })
		}
		runtime.Gosched()
		p.mu.Unlock()
		l.endWatch()
		checks.Wait()
		if s.background.reasons != 0 {
			t.Fatalf("no call is under way: got %d reasons", s.background.reasons)
		}
	}
}
