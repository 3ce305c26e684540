package runtime

import (
	"errors"
	"sync/atomic"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/worker/child"
)

// ErrNoMain is returned by [NewHost], [Open] and [Load] when guests were to run in a worker and [Main] was not called.
var ErrNoMain = errors.New("runtime.Main was not called: call it first in main and in TestMain, or set HostConfig.Isolation to IsolateNone")

// mainCalled reports whether the program can be started again as a worker.
var mainCalled atomic.Bool

// Main acts as a worker or as a compiler process and exits, if this process was started as one. Otherwise Main returns
// at once. A program calls Main first in main, and in TestMain of its tests: by default guests run in a child process,
// and the child is this program, started again.
func Main() {
	compiler.Main()
	child.Main()
	mainCalled.Store(true)
}
