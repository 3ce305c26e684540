package process_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/process"
)

// allowed returns how many processors each thread of a process may use.
func allowed(t *testing.T, pid int) (counts []int) {
	t.Helper()
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		id, _ := strconv.Atoi(thread.Name())
		var set unix.CPUSet
		if unix.SchedGetaffinity(id, &set) == nil { // it may have ended
			counts = append(counts, set.Count())
		}
	}
	return counts
}

func TestAChildRunsInTheBackground(t *testing.T) {
	all := runtime.NumCPU()
	fewer := all - max(1, all/4)
	if all == 1 {
		fewer = 1
	}
	both(t, func(t *testing.T, own bool) {
		r, w := pipe(t)
		p := start(t, process.Config{Name: "wait", Stdout: w, Namespaces: own})
		hear(t, r)
		for _, step := range []struct {
			aside bool
			want  int
		}{{true, fewer}, {true, fewer}, {false, all}, {true, fewer}} {
			p.SetBackground(step.aside)
			for _, got := range allowed(t, p.ID()) {
				if got != step.want {
					t.Errorf("SetAside(%v): a thread may use %d processors, want %d of %d", step.aside, got, step.want, all)
				}
			}
		}
		p.Kill()
		<-p.Done()
		p.SetBackground(false) // the process has ended
	})
}
