// Package early runs child processes before most packages of the program are initialised. A child is the program itself,
// started again, and needs few of its packages: the others would take a third of the time of its start, and memory for as
// long as it lives. A program whose main calls [runtime.Main] may import early for this effect alone.
package early

import (
	"os"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/worker/child"
)

// Go initialises a package as soon as those that it imports are, in the order of their paths. The child runs on a goroutine
// of its own, since that of init functions is locked to a thread.
func init() {
	if len(os.Args) != 1 { // a child has no arguments but its name
		return
	}
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		compiler.Main()
		child.Main()
	}()
	<-returned // of a child, never
}
