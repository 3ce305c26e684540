package mcp

import (
	"context"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
)

// maxSplit is how many bytes of a character may lie beyond the end of a window its first byte lies in.
const maxSplit = utf8.UTFMax - 1

// An excerpt is the [abi.Sink] that lets the window of one content through, whoever cuts it: a source that says
// RangeTotal has begun at the offset, and what is more than the window is dropped.
//
// A character belongs to the window its first byte lies in. So the windows of a text may begin up to three bytes later
// and end up to three bytes later than they were asked for, and put together they are the text.
type excerpt struct {
	// fixed at creation
	sink   abi.Sink
	offset uint64
	end    uint64 // of the window; greater than any content for none

	head  []byte // _meta of the content but for its brace, or empty
	uri   string
	total uint64 // bytes of the content, if known
	known bool
	cut   bool // the source has cut
	text  bool
	at    uint64 // of the next byte to come
	from  uint64 // of the first byte let through
	sent  uint64 // bytes let through
	begun bool   // what comes is not the rest of a character that began before the window
	ended bool   // the last character is complete
}

// newExcerpt gives nil without a window.
func newExcerpt(w *window, sink abi.Sink) *excerpt {
	if w == nil {
		return nil
	}
	e := &excerpt{sink: sink, offset: w.offset, from: w.offset, end: math.MaxInt64, begun: w.offset == 0}
	if w.length > 0 {
		e.end = w.offset + w.length
	}
	return e
}

// readExcerpt reads one content of a resource through e or, when that is nil, all of the resource into sink.
func (c *Core) readExcerpt(ctx context.Context, req *abi.Request, e *excerpt, sink abi.Sink) (*abi.Reply, error) {
	if e == nil {
		return c.cfg.Source.Read(ctx, req, sink)
	}
	asked := *req
	if asked.RangeOffset = e.offset; e.end != math.MaxInt64 {
		asked.RangeLength = e.end - e.offset + maxSplit
	}
	s := newSingle(req.URI, e)
	reply, err := c.readSingle(ctx, &asked, s)
	if err == nil && !e.cut {
		e.settle(s.bytes, s.stopped)
	}
	return reply, err
}

// settle learns how long the content was, if it came to its end.
func (e *excerpt) settle(bytes uint64, stopped bool) {
	if !stopped {
		e.total, e.known = bytes, true
	}
	e.known = e.known && e.total >= bytes // what a provider says of sizes may be wrong
}

// Unwrap says who may keep the guest waiting.
func (e *excerpt) Unwrap() abi.Sink { return e.sink }

// Content implements [abi.Sink].
func (e *excerpt) Content(c *abi.Content) error {
	e.uri, e.text = c.URI, c.Kind == abi.KindText
	e.total, e.known = c.Size, c.Size > 0
	if e.cut = c.RangeTotal > 0; e.cut {
		e.at, e.total, e.known = e.offset, c.RangeTotal, true
	}
	e.head = appendMeta(nil, c.Meta, c.ETag, c.LastModified)
	head := *c
	head.Inline, head.RangeTotal = nil, 0
	head.Size = min(max(e.total, e.offset)-e.offset, e.end-e.offset)
	return e.sink.Content(&head)
}

// Body implements [abi.Sink].
func (e *excerpt) Body(p []byte) error {
	at := e.at
	e.at += uint64(len(p))
	begin, end := place(e.from, at, p), place(e.end, at, p)
	if e.text {
		begin, end = e.whole(p, at, begin, end)
	}
	if begin < end {
		e.sent += uint64(end - begin)
		if err := e.sink.Body(p[begin:end]); err != nil {
			return err
		}
	}
	if e.at >= e.end+maxSplit {
		return ErrEnough
	}
	return nil
}

// place gives the index in p, whose first byte is at the position at, of a position, or the nearest one.
func place(position, at uint64, p []byte) int {
	return int(min(max(position, at)-at, uint64(len(p))))
}

// whole moves the bounds of a piece of text so that no character is split by those of the window.
func (e *excerpt) whole(p []byte, at uint64, begin, end int) (int, int) {
	for !e.begun && begin < end && e.from < e.offset+maxSplit && !utf8.RuneStart(p[begin]) {
		begin++
		e.from++
	}
	e.begun = e.begun || begin < end
	if !e.begun || e.ended {
		return begin, end
	}
	for end < len(p) && at+uint64(end) < e.end+maxSplit && !utf8.RuneStart(p[end]) {
		end++
	}
	e.ended = end < len(p)
	return begin, end
}

// Progress implements [abi.Sink].
func (e *excerpt) Progress(p abi.Progress) { e.sink.Progress(p) }

// appendMeta appends the member _meta of the content, which says where the window lies: only when the bytes have gone
// is that known. With link it says where to download the resource too, unless that is small. A nil excerpt appends
// nothing.
func (e *excerpt) appendMeta(b []byte, link bool) []byte {
	if e == nil {
		return b
	}
	if len(e.head) == 0 {
		b = append(b, `,"_meta":{`...)
	} else {
		b = append(b, e.head[:len(e.head)-1]...)
		b = comma(b, len(e.head)-len(`,"_meta":{}`))
	}
	b = append(b, `"`+metaWindow+`":{"offset":`...)
	b = strconv.AppendUint(b, e.from, 10)
	b = append(b, `,"length":`...)
	b = strconv.AppendUint(b, e.sent, 10)
	if e.known && e.total <= maxInteger && (e.sent == 0 || e.from+e.sent <= e.total) {
		b = append(b, `,"total":`...)
		b = strconv.AppendUint(b, e.total, 10)
	}
	b = append(b, '}')
	if link && (!e.known || e.total >= linkSize) {
		b = appendLink(b, e.uri)
	}
	return append(b, '}')
}
