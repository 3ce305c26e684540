//go:build amd64 || arm64

package confine

import (
	"fmt"
	"os"
	goruntime "runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probeSeccomp passes an invalid filter: a kernel that supports filters for all threads reports a bad address.
var probeSeccomp = sync.OnceValue(func() Layer {
	if _, err := seccomp(nil); err != unix.EFAULT {
		return Layer{Name: Seccomp, Detail: fmt.Sprintf("the kernel, or what this process runs in, does not give it: %v", err)}
	}
	return Layer{Name: Seccomp, On: true}
})

// The filters of the two stages, which take a while to make.
var (
	enteredFilter = sync.OnceValue(func() []unix.SockFilter { return program(enteredCalls(os.Getpid())) })
	sealedFilter  = sync.OnceValue(func() []unix.SockFilter { return program(sealedCalls(os.Getpid())) })
)

// prepareCalls makes the filters.
func prepareCalls() {
	enteredFilter()
	sealedFilter()
	goruntime.LockOSThread() // the first of a process starts a thread
	goruntime.UnlockOSThread()
}

// enterCalls allows the system calls of the first stage, or those of a process that uses SQLite.
func enterCalls(database bool) (Layer, error) {
	if database {
		return filter("database", program(databaseCalls(os.Getpid())))
	}
	return filter("entered", enteredFilter())
}

// sealCalls allows those of the second stage.
func sealCalls() (Layer, error) { return filter("sealed", sealedFilter()) }

// filter restricts all threads to some system calls.
func filter(stage string, instructions []unix.SockFilter) (Layer, error) {
	layer := probeSeccomp()
	if !layer.On {
		return layer, nil
	}
	layer.Detail = stage
	// This thread must have no_new_privs when it sets the filter. The kernel applies both to the others.
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return Layer{}, fmt.Errorf("set no_new_privs: %w", err)
	}
	thread, err := seccomp(&unix.SockFprog{Len: uint16(len(instructions)), Filter: &instructions[0]})
	if err == nil && thread != 0 {
		err = fmt.Errorf("thread %d has a filter of its own", thread)
	}
	if err != nil {
		return Layer{}, fmt.Errorf("seccomp: %w", err)
	}
	return layer, nil
}

// seccomp returns 0, or the thread to which the kernel could not apply the filter.
func seccomp(filter *unix.SockFprog) (thread int, err error) {
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(filter)))
	if errno != 0 {
		return 0, errno
	}
	return int(r), nil
}
