package snapshot_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

const (
	kernelPage = 4 << 10
	wasmPage   = 64 << 10
	mib        = 1 << 20
)

var everyMethod = []snapshot.Method{snapshot.Watch, snapshot.Scan, snapshot.Pagemap, snapshot.Drop, snapshot.Copy}

// eachMethod runs f with all methods that work here and says why others do not.
func eachMethod(t *testing.T, f func(t *testing.T, method snapshot.Method)) {
	for _, method := range everyMethod {
		t.Run(method.String(), func(t *testing.T) {
			if _, err := snapshot.New(nil, snapshot.Config{Method: method}); err != nil {
				t.Skipf("does not work here: %v", err)
			}
			f(t, method)
		})
	}
}

// A fakeEngine holds memory as wazero does: what Reallocate gave last.
type fakeEngine struct {
	memory *snapshot.Memory
	view   []byte
}

// instantiate asks for less than the image has, as a module's minimum may be.
func instantiate(m *snapshot.Memory) *fakeEngine {
	return &fakeEngine{memory: m, view: m.Reallocate(0)}
}

// grow returns false, and leaves the view as it is, when the memory refuses.
func (e *fakeEngine) grow(size int) bool {
	view := e.memory.Reallocate(uint64(size))
	if view == nil {
		return false
	}
	e.view = view
	return true
}

func (e *fakeEngine) shrink() error {
	if !e.grow(len(e.view) + wasmPage) {
		return errors.New("refused")
	}
	return nil
}

func (e *fakeEngine) reset(t testing.TB) {
	t.Helper()
	if err := e.memory.Reset(e.shrink); err != nil {
		t.Fatal(err)
	}
}

// resetNow resets, and ignores the error.
func (e *fakeEngine) resetNow() { _ = e.memory.Reset(e.shrink) }

// dirty writes to every page from one offset to another that is a multiple of stride away.
func (e *fakeEngine) dirty(from, to, stride int) {
	for at := from; at < to; at += stride {
		e.view[at] ^= 0x5a
	}
}

// fill writes to every byte.
func fill(b []byte, value byte) {
	pattern := bytes.Repeat([]byte{value}, min(wasmPage, len(b)))
	for len(b) > 0 {
		b = b[copy(b, pattern):]
	}
}

// noise is an image of which no page is zero.
func noise(length int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, length)
	_, _ = r.Read(b) // never fails
	return b
}

// holes is an image of which every third page is not zero.
func holes(length int) []byte {
	b := make([]byte, length)
	for at := 0; at < length; at += 3 * kernelPage {
		copy(b[at:min(at+kernelPage, length)], noise(kernelPage))
	}
	return b
}

func newImage(t testing.TB, memory []byte, cfg snapshot.Config) *snapshot.Image {
	t.Helper()
	image, err := snapshot.New(memory, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := image.Close(); err != nil {
			t.Error(err)
		}
	})
	return image
}

func newMemory(t testing.TB, image *snapshot.Image) *snapshot.Memory {
	t.Helper()
	m, err := image.Memory()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func release(t testing.TB, m *snapshot.Memory) {
	t.Helper()
	if err := m.Release(); err != nil {
		t.Error(err)
	}
}

func checkEqual(t testing.TB, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	if len(got) != len(want) {
		t.Fatalf("got %d bytes, want %d", len(got), len(want))
	}
	for at := range got {
		if got[at] != want[at] {
			t.Fatalf("byte %#x is %#02x, want %#02x", at, got[at], want[at])
		}
	}
}

// checkRestored looks at the view, and at what comes when the memory grows again: zeros up to the limit.
func checkRestored(t testing.TB, e *fakeEngine, original []byte, limit int) {
	t.Helper()
	checkEqual(t, e.view, original)
	if got, want := len(e.memory.Bytes()), len(original); got != want {
		t.Errorf("got %d bytes, want %d", got, want)
	}
	if limit == len(original) {
		return
	}
	if !e.grow(limit) {
		t.Fatal("cannot grow to the limit")
	}
	checkEqual(t, e.view[len(original):], make([]byte, limit-len(original)))
	e.reset(t)
}
