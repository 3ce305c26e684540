package snapshot_test

import (
	"os"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// watchedMemory is a memory of which a reset knows its first pages.
func watchedMemory(t *testing.T, original []byte) *fakeEngine {
	t.Helper()
	if _, err := snapshot.New(nil, snapshot.Config{Method: snapshot.Watch}); err != nil {
		t.Skipf("does not work here: %v", err)
	}
	m := newMemory(t, newImage(t, original, snapshot.Config{Limit: 2 * mib, Method: snapshot.Watch}))
	t.Cleanup(func() { release(t, m) })
	e := instantiate(m)
	e.dirty(0, knownPages*kernelPage, kernelPage)
	e.reset(t)
	return e
}

const knownPages = 10

// A broken contract of BeginTracking shows when Reset does not ask the system. A fault of another kind, as one of
// Go's, makes it ask.
func TestResetAsksOnlyWhereAPageIsNew(t *testing.T) {
	original := noise(mib)
	const page = (knownPages + 5) * kernelPage
	for range 100 {
		e := watchedMemory(t, original)
		e.memory.BeginTracking()
		e.dirty(0, knownPages*kernelPage, kernelPage)
		e.memory.EndTracking()
		e.view[page] ^= 1
		e.reset(t)
		missed := e.view[page] != original[page]
		e.view[page] ^= 1
		e.reset(t)
		checkEqual(t, e.view, original)
		if missed {
			return
		}
	}
	t.Error("it always asks")
}

func TestResetAsksAgainWhenItCannotKnow(t *testing.T) {
	const page = (knownPages + 5) * kernelPage
	for name, write := range map[string]func(e *fakeEngine){
		"no call entered": func(e *fakeEngine) { e.view[page] ^= 1 },
		"a new page":      func(e *fakeEngine) { e.memory.BeginTracking(); e.view[page] ^= 1; e.memory.EndTracking() },
		"loosened": func(e *fakeEngine) {
			e.memory.BeginTracking()
			e.memory.StopTracking()
			e.view[page] ^= 1
			e.memory.EndTracking()
		},
		"loosened, then again": func(e *fakeEngine) {
			e.memory.BeginTracking()
			e.memory.StopTracking()
			e.memory.BeginTracking()
			e.view[page] ^= 1
			e.memory.EndTracking()
		},
		"before a quiet time": func(e *fakeEngine) {
			e.memory.BeginTracking()
			e.view[page] ^= 1
			e.memory.EndTracking()
			e.memory.BeginTracking()
			e.memory.EndTracking()
		},
		"no call left": func(e *fakeEngine) {
			e.memory.BeginTracking()
			defer e.memory.StopTracking()
			e.view[page] ^= 1
			e.resetNow()
		},
		"after it was trimmed": func(e *fakeEngine) {
			_ = e.memory.Trim()
			e.memory.BeginTracking()
			e.view[page] ^= 1
			e.memory.EndTracking()
		},
		"entered twice": func(e *fakeEngine) {
			e.memory.BeginTracking()
			e.memory.BeginTracking()
			e.memory.EndTracking()
			e.view[page] ^= 1
			e.memory.EndTracking()
		},
		"where it was grown to": func(e *fakeEngine) {
			e.memory.BeginTracking()
			e.grow(2 * mib)
			e.view[mib+page] ^= 1
			e.memory.EndTracking()
		},
	} {
		t.Run(name, func(t *testing.T) {
			original := noise(mib)
			e := watchedMemory(t, original)
			for range 3 {
				write(e)
				e.reset(t)
				checkRestored(t, e, original, 2*mib)
			}
		})
	}
}

// A goroutine that waits while its memory is watched keeps a thread.
func TestWatchingTakesFewThreads(t *testing.T) {
	const many, most = 300, 64
	threads := func() int {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(tasks)
	}
	original := noise(wasmPage)
	image := newImage(t, original, snapshot.Config{Idle: many})
	before := threads()
	for range 3 { // the threads of the second round are those the first has left, or more
		var waiting, done sync.WaitGroup
		waiting.Add(many)
		release := make(chan struct{})
		for range many {
			m := newMemory(t, image)
			done.Go(func() {
				e := instantiate(m)
				e.reset(t)
				m.BeginTracking()
				e.dirty(0, wasmPage, 1000)
				waiting.Done()
				<-release
				m.EndTracking()
				e.reset(t)
				checkEqual(t, e.view, original)
			})
			t.Cleanup(func() { _ = m.Release() })
		}
		waiting.Wait()
		if now := threads(); now > before+most+20 {
			t.Errorf("%d threads, %d before", now, before)
		}
		close(release)
		done.Wait()
	}
}
