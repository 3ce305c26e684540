//go:build !tinygo

package wasmres

import "runtime"

// warmRuntime has Go's runtime do once, for the image, what each request would have it do.
func warmRuntime() {
	runtime.GC() // may shrink the stack
	warmAllocator()
	warmStack(warmDepth)
}

// warmMax is the largest size the allocator is warmed for, in bytes.
const warmMax = 2 << 10

// warmDepth is how often warmStack calls itself: as deep as handlers go that use the larger packages of the library.
const warmDepth = 32

// warmStack makes the stack as large as handlers may need, so that no request has to have it copied.
//
//go:noinline
func warmStack(depth int) byte {
	var frame [1 << 10]byte
	frame[depth] = byte(depth)
	if depth == 0 {
		return frame[0]
	}
	return warmStack(depth-1) + frame[depth]
}

// warmed keeps the compiler from leaving the allocations out.
var warmed struct {
	bytes    []byte
	pointers []*byte
}

// warmAllocator makes the allocator set up a page for objects of each small size, with pointers and without, so that no
// request has to.
func warmAllocator() {
	for size := 8; size <= warmMax; size += max(8, size/16&^7) {
		warmed.bytes = make([]byte, size)
		warmed.pointers = make([]*byte, size/8)
	}
	warmed.bytes, warmed.pointers = nil, nil
}
