package worker

import (
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A call is looked at by whoever comes, perhaps by several at once, and late: it is one reason to stand aside, and none
// once it has ended.
func TestACallIsOneReasonToStandAside(t *testing.T) {
	ended, err := process.Start(process.Config{Executable: "/proc/self/exe", Name: protocol.ProcessName}) // gets no start request
	if err != nil {
		t.Fatal(err)
	}
	<-ended.Done()
	r := &Runner{cfg: Config{Grace: grace, Logger: slog.New(slog.DiscardHandler)}, made: time.Now()}
	neighbour := &guests{runner: r}
	r.crowd.enter(neighbour)
	w := &worker{runner: r, guests: &guests{runner: r}, process: ended, began: time.Now()}
	l := &link{worker: w, watchdog: time.NewTimer(time.Hour)}
	for range 1000 {
		neighbour.called.Store(int64(time.Since(r.made)))
		l.watch(time.Now().Add(time.Hour))
		var looks sync.WaitGroup
		r.crowd.mu.Lock() // which all of them ask
		for range 3 {
			looks.Go(func() { l.linger() })
		}
		runtime.Gosched()
		r.crowd.mu.Unlock()
		l.rest()
		looks.Wait()
		if w.aside.reasons != 0 {
			t.Fatalf("no call is under way: got %d reasons", w.aside.reasons)
		}
	}
}
