package streamable

import (
	"net/http"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/inflight"
	"github.com/wasmres/wasmres/internal/mcp"
)

// errElsewhere ends a read of which the provider has cut a part that does not serve.
var errElsewhere error = abi.Errorf(abi.CodeCancelled, "Another part is needed")

// maxTries bounds how often a provider is asked for another part: it may change its mind about lengths.
const maxTries = 3

// slice is the most a provider that can cut is asked for at once, in bytes. Between slices it is left alone, however
// slow the client.
const slice = 1 << 20

// place looks whether the part that was cut is what is needed. If not, it decides which one to ask for instead.
func (t *transfer) place(c *abi.Content, begin, length uint64) error {
	t.skip = 0
	fits := begin == t.offset
	switch {
	case length == 0 || t.r.Method == http.MethodHead || fits && length <= t.length:
		return nil
	case fits && c.ETag != "" && t.length <= slice && t.reserve(t.length):
		t.sliced, t.version, t.total = true, c.ETag, c.RangeTotal
		return nil
	}
	if t.tries++; t.tries >= maxTries {
		return abi.Errorf(abi.CodeProtocol, "The provider cuts other parts than it is asked for")
	}
	if t.offset, t.length = begin, length; c.ETag != "" {
		t.length = min(length, t.slice())
	}
	return errElsewhere // without an etag all in one, lest two versions are mixed
}

// slice is how much the provider is asked for at once: less where the budget of answers in flight has no room.
func (t *transfer) slice() uint64 {
	if t.reserve(slice) {
		return slice
	}
	return inflight.Free
}

// reserve counts a slice of n bytes as in flight, unless it need not be. It reports false when there is no room for it.
func (t *transfer) reserve(n uint64) bool {
	if n <= inflight.Free || n <= uint64(t.held) {
		return true
	}
	if !t.core.InFlight().Reserve(int(n) - t.held) {
		return false
	}
	t.held = int(n)
	return true
}

// release counts the slices no more.
func (t *transfer) release() { t.core.InFlight().Release(t.held) }

// resume begins the next slice, if it is of the same version.
func (t *transfer) resume(c *abi.Content) error {
	if !t.sliced || c.ETag != t.version || c.RangeTotal != t.total {
		return abi.Errorf(abi.CodeUnavailable, "The resource has changed meanwhile")
	}
	return nil
}

// hold keeps bytes of a slice.
func (t *transfer) hold(p []byte) error {
	if t.buf == nil {
		t.buf = make([]byte, 0, t.length)
	}
	room := int(t.length) - len(t.buf)
	t.buf = append(t.buf, p[:min(len(p), room)]...)
	if len(p) > room {
		return mcp.ErrEnough
	}
	return nil
}

// advance sends the slice at hand, when the provider has come to the end of it, and reports whether there is another to
// ask for.
func (t *transfer) advance() (more bool) {
	if !t.sliced || uint64(len(t.buf)) != t.length || t.write(t.buf) != nil {
		return false
	}
	t.offset += t.length
	t.left -= t.length
	t.length = min(t.left, t.slice())
	t.buf = t.buf[:0]
	return t.left > 0
}
