package mcp

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/textenc"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
)

// partSize is the size of the parts of a long answer, in bytes. A part fits into the processor's cache.
const partSize = 256 << 10

// full reports whether the answer has reached the budget and can be sent in parts.
func (r *request) full() bool { return r.stream.Flush != nil && len(r.out)-r.prefixLen >= r.budget }

// flushPart sends the answer so far. The rest is sent in parts.
func (r *request) flushPart() error {
	err := r.stream.Flush(r.out[r.prefixLen:])
	r.access.addFlushed(len(r.out) - r.prefixLen)
	r.out, r.budget, r.sent = r.out[:r.prefixLen], min(r.budget, partSize), true
	if cap(r.out) > 4*partSize { // the next parts need less
		small := append(r.core.buffers.Take(2*partSize), r.out...)
		r.core.buffers.Give(r.out)
		r.out = small
	}
	r.count()
	if err != nil {
		return abi.Errorf(abi.CodeCancelled, "the client does not take the answer").Because(err)
	}
	return nil
}

// countedBytes returns how many bytes count as in flight for a buffer of that capacity.
func countedBytes(capacity int) int {
	if capacity <= inflight.Free {
		return 0
	}
	return capacity
}

// count updates the counted bytes, since append may have grown out.
func (r *request) count() {
	if now := countedBytes(cap(r.out)); now != r.counted {
		r.recount(now)
	}
}

func (r *request) recount(now int) {
	if more := now - r.counted; more > 0 {
		r.core.cfg.InFlight.Force(more)
	} else {
		r.core.cfg.InFlight.Release(-more)
	}
	r.counted = now
}

// release ends the counting of out.
func (r *request) release() { r.recount(0) }

// grow makes room in out for n bytes more and counts it as in flight. If the budget has no room for that, it returns
// false and changes nothing.
func (r *request) grow(n int) bool {
	if cap(r.out)-len(r.out) >= n {
		return true
	}
	r.count()
	more := max(countedBytes(textenc.Grown(r.out, n))-r.counted, 0)
	if more > 0 && !r.core.cfg.InFlight.Reserve(more) {
		return false
	}
	r.counted += more
	r.out = r.core.buffers.Grow(r.out, n)
	r.count()
	return true
}

// makeRoom makes room in out for n bytes more. If the budget has none, it sends the answer so far; the error is
// [abi.CodeBusy] if that is not possible or not enough.
func (r *request) makeRoom(n int) error {
	if r.maxChunk == 0 && r.grow(n) {
		return nil
	}
	if err := r.limitChunks(); err != nil {
		return err
	}
	if len(r.out) > r.prefixLen && cap(r.out)-len(r.out) < n {
		if err := r.flushPart(); err != nil {
			return err
		}
	}
	if !r.grow(n) {
		return r.core.busyError()
	}
	return nil
}

// maxEscape is how many bytes one byte of text has at most when it is escaped.
const maxEscape = 6

// fit returns how many of n bytes of text to append to out at once, so that append hardly grows it even if every byte
// has to be escaped.
func (r *request) fit(n int) int {
	if r.maxChunk > 0 {
		return min(n, r.maxChunk)
	}
	const little = 2 << 10
	if free := cap(r.out) - len(r.out); n > little && n*maxEscape > free {
		return min(n, max(free/maxEscape, little))
	}
	return n
}

// limitChunks makes parts of the answer that fit the present buffer, since the budget of answers in flight has no room
// for a larger one.
func (r *request) limitChunks() error {
	switch {
	case r.stream.Flush == nil:
		return r.core.busyError()
	case r.maxChunk > 0:
		return nil
	case cap(r.out) < inflight.Free:
		r.out = r.core.buffers.Grow(r.out, inflight.Free-len(r.out))
	}
	r.count()
	r.budget = min(r.budget, cap(r.out)/2)
	r.maxChunk = cap(r.out) / 2 / (maxEscape + 1)
	return nil
}

// busyError returns the failure of an answer that the budget has no room for.
func (c *Core) busyError() error { return inflight.Busy(c.cfg.MaxWait) }

// flushIfFull sends the answer so far, if it has reached the budget.
func (r *request) flushIfFull() error {
	r.count()
	if !r.full() {
		return nil
	}
	return r.flushPart()
}

// appendLong appends text that may be long: escaped for a JSON string or, if raw, unchanged.
func (r *request) appendLong(text []byte, raw bool) error {
	var escaped textenc.Text
	for len(text) > 0 {
		n := min(len(text), partSize)
		if r.maxChunk > 0 {
			n = min(n, r.maxChunk)
		}
		if err := r.makeRoom(n); err != nil {
			return err
		}
		if n = r.fit(n); raw {
			r.out = append(r.out, text[:n]...)
		} else {
			r.out, _ = escaped.Append(r.out, text[:n]) // it is UTF-8
		}
		if err := r.flushIfFull(); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
