package streamable

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/streamable/response"
)

// A transfer is the [abi.Sink] of a download: the response, from the head of the content on.
type transfer struct {
	// fixed at creation
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	core    *mcp.Core
	spans   []span // of Range; none on a malformed one
	badSpan bool   // Range is malformed

	offset  uint64 // the part a provider that can cut is asked for: first byte
	length  uint64 // bytes; at least 1
	tries   int    // parts that did not serve
	sliced  bool   // it comes in slices, of one version
	version string // of the slices: the etag
	total   uint64 // of the slices together
	buf     []byte // the slice, held until the provider has come to its end
	held    int    // bytes of it that are counted as in flight

	begun   bool         // the head of the response has gone
	waited  atomic.Int64 // see Waited
	skip    uint64       // bytes to be dropped before the first that is sent
	left    uint64       // bytes to be sent; math.MaxUint64 when not known
	toEnd   bool         // the last of them is the last of the resource
	last    []byte       // that byte, held until the provider has come to its end without failure
	expires time.Time    // the write deadline, less response.AnswerTimeout
}

func newTransfer(core *mcp.Core, w http.ResponseWriter, r *http.Request) *transfer {
	t := &transfer{w: w, r: r, core: core, control: http.NewResponseController(w)}
	if r.Method == http.MethodGet { // of other methods the header says nothing
		spans, ok := parseRange(r.Header.Get("Range"))
		t.spans, t.badSpan = spans, !ok
		t.offset, t.length = wish(spans)
	} else {
		t.length = 1
	}
	return t
}

// Content implements [abi.Sink]: it decides about the response, and sends its head.
func (t *transfer) Content(c *abi.Content) error {
	if t.begun {
		return t.resume(c)
	}
	if c.NotModified {
		return t.end(http.StatusNotModified, newValidator(c.ETag, c.LastModified))
	}
	v := newValidator(c.ETag, c.LastModified)
	if status := v.precondition(t.r); status != 0 {
		return t.end(status, v)
	}
	total, cut := max(c.Size, uint64(len(c.Inline))), c.RangeTotal > 0
	if cut {
		total = c.RangeTotal
	}
	status, begin, length := t.choose(v, total)
	if t.skip = begin; cut {
		if err := t.place(c, begin, length); err != nil {
			return err
		}
	}
	t.left, t.toEnd = length, begin+length == total && !t.sliced
	describe(t.w.Header(), c)
	v.set(t.w.Header())
	return t.begin(status, begin, length, total)
}

// choose gives the status, and the part to be sent; its length is math.MaxUint64 when it is not known. total is the
// length of the whole, 0 when that is not known, in which case a Range cannot be answered.
func (t *transfer) choose(v validator, total uint64) (status int, begin, length uint64) {
	if total == 0 {
		return http.StatusOK, 0, math.MaxUint64
	}
	if !v.holds(t.r) {
		return http.StatusOK, 0, total
	}
	if t.badSpan {
		return http.StatusRequestedRangeNotSatisfiable, 0, 0
	}
	begin, length, count := only(t.spans, total)
	switch {
	case count == 1:
		return http.StatusPartialContent, begin, length
	case count == 0 && len(t.spans) > 0:
		return http.StatusRequestedRangeNotSatisfiable, 0, 0
	}
	return http.StatusOK, 0, total // several ranges are answered by all
}

// begin sends the head.
func (t *transfer) begin(status int, begin, length, total uint64) error {
	header := t.w.Header()
	if total > 0 {
		header.Set("Accept-Ranges", "bytes")
	}
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		header.Set("Content-Range", "bytes */"+strconv.FormatUint(total, 10))
		t.begun, t.left, t.toEnd = true, 0, false
		unsuited(t.w)
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

// end sends a response without a body.
func (t *transfer) end(status int, v validator) error {
	if status == http.StatusNotModified {
		if v.tag != "" {
			v.modified = time.Time{} // of the two, it is enough
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
	if t.sliced {
		return t.hold(p)
	}
	if n := min(t.skip, uint64(len(p))); n > 0 {
		t.skip -= n
		p = p[n:]
	}
	if t.left == math.MaxUint64 {
		return t.pass(p)
	}
	over := uint64(len(p)) > t.left
	p = p[:min(t.left, uint64(len(p)))]
	t.left -= uint64(len(p))
	if t.toEnd && t.left == 0 && len(p) > 0 {
		t.last = append(t.last, p[len(p)-1])
		p = p[:len(p)-1]
	}
	if err := t.pass(p); err != nil {
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

// pass sends p while the provider waits, which it does not for long.
func (t *transfer) pass(p []byte) error {
	w := t.core.Wait(func() { response.Abort(t.control) })
	err := t.write(p)
	return cmp.Or(w.End(), err)
}

// write sends p, if the client takes it in time.
func (t *transfer) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	t.extend(len(p))
	began := time.Now()
	_, err := t.w.Write(p)
	t.waited.Add(int64(time.Since(began)))
	if err != nil {
		return abi.Errorf(abi.CodeCancelled, "the client does not take the answer").Because(err)
	}
	return nil
}

// Waited is for how long the client has kept the guest waiting.
func (t *transfer) Waited() time.Duration { return time.Duration(t.waited.Load()) }

// extend gives the client time for size more bytes.
func (t *transfer) extend(size int) {
	now := time.Now()
	if size < response.MinRate && now.Before(t.expires) {
		return
	}
	t.expires = now.Add(time.Second)
	response.SetDeadline(t.control, size, response.AnswerTimeout+time.Second)
}

// finish ends the response. It reports false when what has gone must not be taken for the whole.
func (t *transfer) finish() bool {
	if t.toEnd && t.left == 0 {
		if t.write(t.last) != nil {
			return false
		}
	}
	_ = t.control.Flush() // the client may have gone
	_ = t.control.SetWriteDeadline(time.Time{})
	return t.left == 0 || t.left == math.MaxUint64
}

// Progress implements [abi.Sink]. A download shows by itself how far it is.
func (t *transfer) Progress(abi.Progress) {}
