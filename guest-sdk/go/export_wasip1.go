package wasmres

//go:wasmexport wasmres_v1
func wasmresV1(op, size uint32) uint32 { return serve(op, size) }

//go:wasmexport wasmres_v1_warm
func wasmresV1Warm() {
	for _, f := range registered.warm {
		f()
	}
	warmRuntime()
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
