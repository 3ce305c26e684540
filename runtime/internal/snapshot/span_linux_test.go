package snapshot_test

import (
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

const span = 4<<30 + 32*mib

// faults reports whether loading a byte at an offset from the beginning of a memory faults.
func faults(view []byte, offset uint64) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() != nil }()
	sink = *(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(view)), offset))
	return false
}

var sink byte

// checkSpan checks that a memory ends where it should.
func checkSpan(t *testing.T, e *fakeEngine) {
	t.Helper()
	size := uint64(len(e.view))
	if faults(e.view, size-1) {
		t.Errorf("the last of %d bytes faults", size)
	}
	for _, offset := range []uint64{size, size + kernelPage, size + mib, 4 << 30, span - 1} {
		if !faults(e.view, offset) {
			t.Errorf("the byte at %d does not fault after %d bytes", offset, size)
		}
	}
}

func TestBytesAfterAMemoryWithASpanFault(t *testing.T) {
	const length, limit = 2 * mib, 8 * mib
	original := holes(length)
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		image := newImage(t, original, snapshot.Config{Limit: limit, Span: span, Method: method})
		for range 2 { // the second memory has the mapping of the first
			m := newMemory(t, image)
			e := instantiate(m)
			if m.Reserved() != span {
				t.Errorf("reserved %d bytes", m.Reserved())
			}
			for _, grown := range []int{length, 3 * mib, limit, 5 * mib / 2, length, 3 * mib} {
				checkSpan(t, e)
				if grown > len(e.view) {
					mustGrow(t, e, grown)
				}
				checkSpan(t, e)
				e.dirty(0, len(e.view), 3*kernelPage)
				e.reset(t)
				checkEqual(t, e.view, original)
			}
			mustGrow(t, e, limit)
			checkEqual(t, e.view[length:], make([]byte, limit-length))
			e.dirty(0, limit, kernelPage)
			release(t, m)
		}
	})
}

func TestABlankMemoryWithASpanFaults(t *testing.T) {
	m, err := snapshot.Blank(8*mib, span)
	if err != nil {
		t.Fatal(err)
	}
	defer release(t, m)
	e := instantiate(m)
	for _, size := range []int{mib, 8 * mib} {
		mustGrow(t, e, size)
		checkSpan(t, e)
	}
	if e.grow(9 * mib) {
		t.Error("the memory has grown over its limit")
	}
}

func TestASpanIsMoreThanTheLimit(t *testing.T) {
	for _, bad := range []uint64{1, mib, 8 * mib, 8*mib + 1, 9 << 30} {
		if _, err := snapshot.Blank(8*mib, bad); err == nil {
			t.Errorf("%d bytes are taken", bad)
		}
	}
}
