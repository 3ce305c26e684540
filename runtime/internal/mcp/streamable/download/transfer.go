package download

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
	"github.com/wasmres/wasmres/runtime/internal/pace"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A transfer is one download. It is the [abi.Sink] that the provider's content goes to.
type transfer struct {
	// fixed at creation
	w        http.ResponseWriter
	r        *http.Request
	control  *http.ResponseController
	core     *mcp.Core
	pace     pace.Pace
	ranges   []byteRange // of Range; none when it is malformed
	badRange bool        // Range is malformed

	offset  uint64 // first byte of the range a provider is asked for, if it answers ranges
	length  uint64 // of that range in bytes; at least 1
	tries   int    // ranges that were not the one needed
	inParts bool   // the resource is read in parts, all of one version
	etag    string // of all parts
	total   uint64 // bytes of the resource, as all parts say
	buf     []byte // the part, kept until the provider has sent all of it
	held    int    // bytes of buf that are counted as in flight

	begun   bool            // the head of the response was sent
	waiter  resource.Waiter // nil for none
	waited  atomic.Int64    // nanoseconds; see Blocked
	skip    uint64          // bytes to be discarded before the first that is sent
	left    uint64          // bytes to be sent; math.MaxUint64 when unknown
	toEnd   bool            // the last of them is the last of the resource
	last    []byte          // that byte, kept until the provider has succeeded
	expires time.Time       // the write deadline, less response.AnswerTimeout
	written int64           // bytes
}

func newTransfer(core *mcp.Core, w http.ResponseWriter, r *http.Request) *transfer {
	t := &transfer{w: w, r: r, core: core, control: http.NewResponseController(w)}
	t.pace.Begin(auth.AccountOf(r.Context()))
	if r.Method == http.MethodGet { // other methods have no ranges
		ranges, ok := parseRange(r.Header.Get("Range"))
		t.ranges, t.badRange = ranges, !ok
		t.offset, t.length = neededRange(ranges)
	} else {
		t.length = 1
	}
	return t
}

// Content implements [abi.Sink]: it chooses the response, and sends its head.
func (t *transfer) Content(c *abi.Content) error {
	if t.begun {
		return t.nextPart(c)
	}
	if c.NotModified {
		return t.sendHead(http.StatusNotModified, newValidator(c.ETag, c.LastModified))
	}
	v := newValidator(c.ETag, c.LastModified)
	if status := v.precondition(t.r); status != 0 {
		return t.sendHead(status, v)
	}
	total, ranged := max(c.Size, uint64(len(c.Inline))), c.RangeTotal > 0
	if ranged {
		total = c.RangeTotal
	}
	status, begin, length := t.choose(v, total)
	if t.skip = begin; ranged {
		if err := t.checkPart(c, begin, length); err != nil {
			return err
		}
	}
	t.left, t.toEnd = length, begin+length == total && !t.inParts
	setHeaders(t.w.Header(), c)
	v.set(t.w.Header())
	return t.begin(status, begin, length, total)
}

// choose returns the status, and the range to be sent; length is math.MaxUint64 when it is unknown. total is the length
// of the resource. When that is unknown, 0, the whole is sent whatever Range asks for.
func (t *transfer) choose(v validator, total uint64) (status int, begin, length uint64) {
	if total == 0 {
		return http.StatusOK, 0, math.MaxUint64
	}
	if !v.ifRange(t.r) {
		return http.StatusOK, 0, total
	}
	if t.badRange {
		return http.StatusRequestedRangeNotSatisfiable, 0, 0
	}
	begin, length, count := singleRange(t.ranges, total)
	switch {
	case count == 1:
		return http.StatusPartialContent, begin, length
	case count == 0 && len(t.ranges) > 0:
		return http.StatusRequestedRangeNotSatisfiable, 0, 0
	}
	return http.StatusOK, 0, total // several ranges are answered with the whole
}

// begin sends the head of a response with the bytes from begin on.
func (t *transfer) begin(status int, begin, length, total uint64) error {
	header := t.w.Header()
	if total > 0 {
		header.Set("Accept-Ranges", "bytes")
	}
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		header.Set("Content-Range", "bytes */"+strconv.FormatUint(total, 10))
		t.begun, t.left, t.toEnd = true, 0, false
		rangeNotSatisfiable(t.w)
		return mcp.ErrEnough
	case http.StatusPartialContent:
		header.Set("Content-Range", "bytes "+strconv.FormatUint(begin, 10)+"-"+
			strconv.FormatUint(begin+length-1, 10)+"/"+strconv.FormatUint(total, 10))
	}
	if total > 0 {
		header.Set("Content-Length", strconv.FormatUint(length, 10))
	}
	t.begun = true
	t.extend(0)
	t.w.WriteHeader(status)
	if t.r.Method == http.MethodHead {
		t.left, t.toEnd = 0, false
		return mcp.ErrEnough
	}
	return nil
}

// sendHead sends a response without a body.
func (t *transfer) sendHead(status int, v validator) error {
	if status == http.StatusNotModified {
		if v.tag != "" {
			v.modified = time.Time{} // the etag is enough
		}
		v.set(t.w.Header())
		t.w.Header().Set("Cache-Control", revalidate)
	}
	t.begun = true
	t.w.WriteHeader(status)
	return mcp.ErrEnough
}

// Body implements [abi.Sink].
func (t *transfer) Body(p []byte) error {
	if t.inParts {
		return t.bufferPart(p)
	}
	if n := min(t.skip, uint64(len(p))); n > 0 {
		t.skip -= n
		p = p[n:]
	}
	if t.left == math.MaxUint64 {
		return t.writeWaiting(p)
	}
	over := uint64(len(p)) > t.left
	p = p[:min(t.left, uint64(len(p)))]
	t.left -= uint64(len(p))
	if t.toEnd && t.left == 0 && len(p) > 0 {
		t.last = append(t.last, p[len(p)-1])
		p = p[:len(p)-1]
	}
	if err := t.writeWaiting(p); err != nil {
		return err
	}
	switch {
	case over && t.toEnd:
		return abi.Errorf(abi.CodeProtocol, "The content is longer than the provider said")
	case t.left == 0 && !t.toEnd:
		return mcp.ErrEnough
	}
	return nil
}

// writeWaiting sends p while the provider waits, which the core bounds.
func (t *transfer) writeWaiting(p []byte) error {
	w := t.core.Wait(func() { t.pace.Abort(); response.Abort(t.control) })
	err := t.write(p)
	return cmp.Or(w.End(), err)
}

// write sends p, if the client receives it in time.
func (t *transfer) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if t.waiter != nil {
		t.waiter.BeginWait()
		defer t.waiter.EndWait()
	}
	began := time.Now()
	if err := t.pace.Wait(t.r.Context(), len(p)); err != nil {
		return abi.Errorf(abi.CodeCancelled, "the client may not be sent the answer").Because(err)
	}
	t.extend(len(p))
	n, err := t.w.Write(p)
	t.written += int64(n)
	t.waited.Add(int64(time.Since(began)))
	if err != nil {
		return abi.Errorf(abi.CodeCancelled, "the client does not receive the answer").Because(err)
	}
	return nil
}

// OnWait implements [resource.WaitingSink].
func (t *transfer) OnWait(w resource.Waiter) { t.waiter = w }

// Blocked returns how long the guest has waited for the client.
func (t *transfer) Blocked() time.Duration { return time.Duration(t.waited.Load()) }

// extend gives the client time for size more bytes. It moves the deadline at most once a second.
func (t *transfer) extend(size int) {
	now := time.Now()
	if size < response.MinRate && now.Before(t.expires) {
		return
	}
	t.expires = now.Add(time.Second)
	response.SetDeadline(t.control, size, response.AnswerTimeout+time.Second)
}

// finish ends the response. It returns false when the response is incomplete.
func (t *transfer) finish() bool {
	if t.toEnd && t.left == 0 {
		if t.write(t.last) != nil {
			return false
		}
	}
	_ = t.control.Flush() // an error means that the client has gone
	response.ClearDeadline(t.control)
	return t.left == 0 || t.left == math.MaxUint64
}

// Progress implements [abi.Sink]. A download has no messages: clients see how much has arrived.
func (t *transfer) Progress(abi.Progress) {}
