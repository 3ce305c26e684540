package mcp

import (
	"context"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// maxSplit is how many bytes of a character may lie behind the end of the range that has its first byte.
const maxSplit = utf8.UTFMax - 1

// A rangeSink is the [abi.Sink] that passes on one range of one content. A source that sets RangeTotal begins at the
// offset; the rangeSink discards the bytes outside of the range in any case.
//
// A character belongs to the range that has its first byte. So a range of a text may begin and end up to three bytes
// later than requested, and adjoining ranges together are the text.
type rangeSink struct {
	// fixed at creation
	sink   abi.Sink
	offset uint64
	end    uint64 // of the range; math.MaxInt64 for the end of the content

	head  []byte // _meta of the content without its closing brace, or empty
	uri   string
	total uint64 // bytes of the content, if known
	known bool
	cut   bool // the source's bytes begin at the offset
	text  bool
	at    uint64 // position of the next byte from the source
	from  uint64 // position of the first byte passed on
	sent  uint64 // bytes passed on
	begun bool   // the first character of the range has begun
	ended bool   // the last character is complete
}

// newRangeSink returns nil if w is nil.
func newRangeSink(w *byteRange, sink abi.Sink) *rangeSink {
	if w == nil {
		return nil
	}
	e := &rangeSink{sink: sink, offset: w.offset, from: w.offset, end: math.MaxInt64, begun: w.offset == 0}
	if w.length > 0 {
		e.end = w.offset + w.length
	}
	return e
}

// readRange reads one content of a resource through e or, if e is nil, the whole resource into sink.
func (c *Core) readRange(ctx context.Context, req *resource.Request, e *rangeSink, sink abi.Sink) (*abi.Reply, error) {
	if e == nil {
		return c.cfg.Source.Read(ctx, req, sink)
	}
	asked := *req
	if asked.RangeOffset = e.offset; e.end != math.MaxInt64 {
		asked.RangeLength = e.end - e.offset + maxSplit
	}
	s := newFirstContentSink(req.URI, e)
	reply, err := c.readFirstContent(ctx, &asked, s)
	if err == nil && !e.cut {
		e.settle(s.bytes, s.stopped)
	}
	return reply, err
}

// settle sets the total to the bytes received, unless the source was stopped before the end.
func (e *rangeSink) settle(bytes uint64, stopped bool) {
	if !stopped {
		e.total, e.known = bytes, true
	}
	e.known = e.known && e.total >= bytes // a provider may announce a wrong size
}

// Unwrap returns the sink that may keep the guest waiting.
func (e *rangeSink) Unwrap() abi.Sink { return e.sink }

// Content implements [abi.Sink].
func (e *rangeSink) Content(c *abi.Content) error {
	e.uri, e.text = c.URI, c.Kind == abi.KindText
	e.total, e.known = c.Size, c.Size > 0
	if e.cut = c.RangeTotal > 0; e.cut {
		e.at, e.total, e.known = e.offset, c.RangeTotal, true
	}
	e.head = appendMeta(nil, c.Meta, c.ETag, c.LastModified, "")
	head := *c
	head.Inline, head.RangeTotal = nil, 0
	head.Size = min(max(e.total, e.offset)-e.offset, e.end-e.offset)
	return e.sink.Content(&head)
}

// Body implements [abi.Sink].
func (e *rangeSink) Body(p []byte) error {
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

// place returns the index in p of a position, or the nearest index. The first byte of p has the position at.
func place(position, at uint64, p []byte) int {
	return int(min(max(position, at)-at, uint64(len(p))))
}

// whole moves the bounds of a piece of text so that the range splits no character.
func (e *rangeSink) whole(p []byte, at uint64, begin, end int) (int, int) {
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
func (e *rangeSink) Progress(p abi.Progress) { e.sink.Progress(p) }

// appendMeta appends the member _meta of the content, with the range that was sent: it is called after the bytes. With
// link it adds the URL for downloads, unless the resource is small. A nil rangeSink appends nothing.
func (e *rangeSink) appendMeta(b []byte, link bool) []byte {
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
