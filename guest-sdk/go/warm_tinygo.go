//go:build wasip1 && tinygo

package wasmres

import "runtime"

// warmRuntime leaves no garbage in the image. There is nothing else to do: the stack does not grow, and the allocator
// has no pages to set up.
func warmRuntime() { runtime.GC() }
