package download

import (
	"net/http"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// errOtherRange ends a read of an unsuitable range. The next read asks for the needed one.
var errOtherRange error = abi.Errorf(abi.CodeCancelled, "Another range is needed")

// maxTries bounds how often the provider is asked for another range, since it may state another length each time.
const maxTries = 3

// partSize is the most bytes in one request to a provider that answers ranges. The provider is not called between two
// parts, however slow the client is.
const partSize = 1 << 20

// checkPart decides about a part that begins at t.offset and that c describes. begin and length are the client's range.
// If the part is unsuitable, the error is errOtherRange, and t.offset and t.length are the range to ask for.
func (t *transfer) checkPart(c *abi.Content, begin, length uint64) error {
	t.skip = 0
	fits := begin == t.offset
	switch {
	case length == 0 || t.r.Method == http.MethodHead || fits && length <= t.length:
		return nil
	case fits && c.ETag != "" && t.length <= partSize && t.reserve(t.length):
		t.inParts, t.etag, t.total = true, c.ETag, c.RangeTotal
		return nil
	}
	if t.tries++; t.tries >= maxTries {
		return abi.Errorf(abi.CodeProtocol, "The provider answers other ranges than it is asked for")
	}
	if t.offset, t.length = begin, length; c.ETag != "" {
		t.length = min(length, t.nextSize())
	}
	return errOtherRange // all at once and without an etag, since parts could be of different versions
}

// nextSize returns the most bytes to ask the provider for: fewer if the budget of answers in flight has no room.
func (t *transfer) nextSize() uint64 {
	if t.reserve(partSize) {
		return partSize
	}
	return inflight.Free
}

// reserve counts a large part of n bytes as in flight. It returns false when there is no room for it.
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

// release subtracts what reserve has counted.
func (t *transfer) release() { t.core.InFlight().Release(t.held) }

// nextPart begins the next part, if it is of the same version.
func (t *transfer) nextPart(c *abi.Content) error {
	if !t.inParts || c.ETag != t.etag || c.RangeTotal != t.total {
		return abi.Errorf(abi.CodeUnavailable, "The resource changed during the download")
	}
	return nil
}

// bufferPart stores bytes of a part until the provider has sent all of it.
func (t *transfer) bufferPart(p []byte) error {
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

// sendPart sends the buffered part if it is complete, and reports whether there is another to ask for.
func (t *transfer) sendPart() (more bool) {
	if !t.inParts || uint64(len(t.buf)) != t.length || t.write(t.buf) != nil {
		return false
	}
	t.offset += t.length
	t.left -= t.length
	t.length = min(t.left, t.nextSize())
	t.buf = t.buf[:0]
	return t.left > 0
}
