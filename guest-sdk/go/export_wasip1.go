package wasmres

import "runtime"

//go:wasmexport wasmres_v1
func wasmresV1(op, size uint32) uint32 { return serve(op, size) }

//go:wasmexport wasmres_v1_warm
func wasmresV1Warm() {
	for _, f := range registered.warm {
		f()
	}
	runtime.GC() // may shrink the stack
	warmAllocator()
	warmStack(warmDepth)
}

// An instance does one operation at a time, so that there is one request, and one place where frames are made. They are
// not allocated: a buffer that grows by doubling has the allocator set up a page for each size on the way, which each
// fresh instance would do again.
var (
	request Request
	frame   [flushAt + 4<<10]byte
	asked   [1 << 10]byte
)

func newRequest() *Request {
	request = Request{out: out{buf: frame[:0]}}
	return &request
}

// requestBuffer gives room for an encoded request, of which what handlers get is a part: they may keep that only where
// nothing else is kept.
func requestBuffer(n uint32) []byte {
	if n <= uint32(len(asked)) && registered.manifest.lifecycle == lifecycleFresh {
		return asked[:n]
	}
	return make([]byte, n)
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
