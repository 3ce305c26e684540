//go:build linux

package hostile_test

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// A census is what this process has.
type census struct {
	goroutines, files, children int
	resident                    int64 // bytes
}

func (c census) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d children, %.1f MiB", c.goroutines, c.files, c.children, float64(c.resident)/(1<<20))
}

// count takes a census when garbage is collected.
func count() census {
	debug.FreeOSMemory()
	return census{goroutines: goruntime.NumGoroutine(), files: openFiles(), children: children(), resident: resident()}
}

// settled counts until there is no more than before, or for a while: what ends by itself is not reported.
func settled(before census) (now census) {
	for range 400 {
		now = count()
		if now.goroutines <= before.goroutines && now.files <= before.files && now.children <= before.children {
			break
		}
		<-time.After(5 * time.Millisecond)
	}
	return now
}

func openFiles() int {
	open, _ := os.ReadDir("/proc/self/fd")
	return len(open)
}

// children counts the children of all threads, those that have ended and were not buried as well.
func children() (n int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		n += len(strings.Fields(string(text)))
	}
	return n
}

// largestChild is the most resident memory, in bytes, that any child has had that is buried.
func largestChild() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		return 0
	}
	return used.Maxrss << 10
}
