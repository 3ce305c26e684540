package snapshot_test

import (
	"os"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/runtime/snapshot"
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

// Whoever breaks the contract of Enter shows when Reset does not ask the system. A fault of another kind, as one of
// Go's, makes it ask.
func TestResetAsksOnlyWhereAPageIsNew(t *testing.T) {
	original := noise(mib)
	const page = (knownPages + 5) * kernelPage
	for range 100 {
		e := watchedMemory(t, original)
		e.memory.Enter()
		e.dirty(0, knownPages*kernelPage, kernelPage)
		e.memory.Leave()
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
		"nobody entered": func(e *fakeEngine) { e.view[page] ^= 1 },
		"a new page":     func(e *fakeEngine) { e.memory.Enter(); e.view[page] ^= 1; e.memory.Leave() },
		"loosened":       func(e *fakeEngine) { e.memory.Enter(); e.memory.Loosen(); e.view[page] ^= 1; e.memory.Leave() },
		"loosened, then again": func(e *fakeEngine) {
			e.memory.Enter()
			e.memory.Loosen()
			e.memory.Enter()
			e.view[page] ^= 1
			e.memory.Leave()
		},
		"before a quiet time": func(e *fakeEngine) {
			e.memory.Enter()
			e.view[page] ^= 1
			e.memory.Leave()
			e.memory.Enter()
			e.memory.Leave()
		},
		"nobody left":          func(e *fakeEngine) { e.memory.Enter(); defer e.memory.Loosen(); e.view[page] ^= 1; e.resetNow() },
		"after it was trimmed": func(e *fakeEngine) { _ = e.memory.Trim(); e.memory.Enter(); e.view[page] ^= 1; e.memory.Leave() },
		"entered twice": func(e *fakeEngine) {
			e.memory.Enter()
			e.memory.Enter()
			e.memory.Leave()
			e.view[page] ^= 1
			e.memory.Leave()
		},
		"where it was grown to": func(e *fakeEngine) { e.memory.Enter(); e.grow(2 * mib); e.view[mib+page] ^= 1; e.memory.Leave() },
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
				m.Enter()
				e.dirty(0, wasmPage, 1000)
				waiting.Done()
				<-release
				m.Leave()
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
