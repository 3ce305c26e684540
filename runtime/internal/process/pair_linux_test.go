package process_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/process"
)

// mayUse returns how many processors a thread may use; 0 is the calling thread.
func mayUse(t *testing.T, thread int) int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(thread, &set); err != nil {
		t.Fatal(err)
	}
	return set.Count()
}

func TestAPairSharesAProcessorWhileOneWaits(t *testing.T) {
	all := mayUse(t, 0)
	if all == 1 {
		t.Skip("there is one processor")
	}
	both(t, func(t *testing.T, own bool) {
		r, w := pipe(t)
		child := start(t, process.Config{Name: "wait", Stdout: w, Namespaces: own})
		hear(t, r)
		var pair process.Pair
		for _, step := range []struct {
			name            string
			do              func()
			parent, another int
		}{
			{"leave before join", pair.Leave, all, all},
			{"part before join", func() { pair.Part(child) }, all, all},
			{"join", func() { pair.Join(child) }, 1, 1},
			{"leave", pair.Leave, all, 1},
			{"join again", func() { pair.Join(child) }, 1, 1},
			{"part", func() { pair.Part(child) }, all, all},
			{"part after leave", func() { pair.Join(child); pair.Leave(); pair.Part(child) }, all, all},
			{"leave after part", pair.Leave, all, all},
			{"join after part", func() { pair.Join(child) }, 1, 1},
		} {
			step.do()
			if parent, another := mayUse(t, 0), mayUse(t, child.ID()); parent != step.parent || another != step.another {
				t.Errorf("%s: the goroutine may use %d processors and the child %d, want %d and %d", step.name, parent, another, step.parent, step.another)
			}
		}
		pair.Leave()
		child.Kill()
		<-child.Done()
		pair.Join(child) // the process has ended
		pair.Part(child)
		if parent := mayUse(t, 0); parent != all {
			t.Errorf("after the child's end the goroutine may use %d processors, want %d", parent, all)
		}
	})
}
