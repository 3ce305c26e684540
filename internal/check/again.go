package check

import (
	"bytes"
	"context"

	"github.com/wasmres/wasmres/runtime/resource"
)

const noSuchETag = "wasmres-check-no-such-etag"

// checkAgain reads a resource again: whole, with its etag, and in part.
func (r *run) checkAgain(ctx context.Context, uri string, from *route, first *reading) {
	second, err := r.read(ctx, uri, &resource.Request{})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		r.report.addFailure(ruleReadFails, uri, "second read failed", err)
		return
	}
	r.checkETags(ctx, uri, first)
	if r.compare(uri, first, second) && from != nil && from.declared.Ranges && len(first.contents) == 1 {
		r.checkRange(ctx, uri, &first.contents[0])
	}
}

// compare reports whether two readings have the same bytes.
func (r *run) compare(uri string, first, second *reading) (same bool) {
	if len(first.contents) != len(second.contents) {
		r.report.add(ruleReadUnstable, uri, "the first read has %d contents, the second %d", len(first.contents), len(second.contents))
		return false
	}
	same = true
	for i := range first.contents {
		a, b := &first.contents[i], &second.contents[i]
		switch equal := a.sameBytes(b); {
		case equal && a.ETag != b.ETag:
			r.report.add(ruleETagUnstable, uri, "the first read has the etag %.60q, the second %.60q", a.ETag, b.ETag)
		case equal || a.ETag != b.ETag:
		case a.ETag != "":
			r.report.add(ruleETagStale, uri, "two reads with the etag %.60q have different bytes", a.ETag)
		case a.LastModified == b.LastModified:
			r.report.add(ruleReadUnstable, uri, "the first read has %d bytes, the second %d different ones", a.size, b.size)
		}
		same = same && a.sameBytes(b)
	}
	return same
}

// checkETags reads with the etag of the version that was read, and with the etag of no version.
func (r *run) checkETags(ctx context.Context, uri string, got *reading) {
	main := got.main(uri)
	if main == nil || main.ETag == "" {
		return
	}
	for _, etag := range []string{main.ETag, noSuchETag} {
		again, err := r.read(ctx, uri, &resource.Request{IfNoneMatch: etag})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.report.addFailure(ruleETagMatch, uri, "read with an etag failed", err)
			return
		}
		for i := range again.contents {
			if c := &again.contents[i]; c.NotModified && c.ETag != etag {
				r.report.add(ruleETagMatch, uri, "a read with the etag %.60q answers not modified, with the etag %.60q",
					etag, c.ETag)
			}
		}
	}
}

// checkRange reads a part of a content whose template declares ranges. The provider may also answer the whole content,
// which the host cuts.
func (r *run) checkRange(ctx context.Context, uri string, c *content) {
	offset := uint64(len(c.head)) / 3
	length := max(1, offset)
	if c.size == 0 {
		return
	}
	part, err := r.read(ctx, uri, &resource.Request{RangeOffset: offset, RangeLength: length})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		r.report.addFailure(ruleRangeWrong, uri, "read of a range failed", err)
		return
	}
	got := &part.contents[0]
	want := c.head[offset:min(offset+length, uint64(len(c.head)))]
	switch {
	case len(part.contents) > 1:
		r.report.add(ruleRangeWrong, uri, "the range has %d contents, expected 1", len(part.contents))
	case got.RangeTotal == 0 && got.sameBytes(c):
	case got.RangeTotal != c.size:
		r.report.add(ruleRangeWrong, uri, "range_total is %d, but the content has %d bytes", got.RangeTotal, c.size)
	case !bytes.Equal(got.head, want) || got.size != uint64(len(want)):
		r.report.add(ruleRangeWrong, uri, "the range of %d bytes from byte %d has %d bytes, which differ from the content",
			length, offset, got.size)
	}
}
