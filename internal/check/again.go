package check

import (
	"bytes"
	"context"

	"github.com/wasmres/wasmres/abi"
)

const noSuchETag = "wasmres-check-no-such-etag"

// checkAgain reads a resource a second time, whole, by its etag, and in part.
func (r *run) checkAgain(ctx context.Context, uri string, from *route, first *reading) {
	second, err := r.read(ctx, &abi.Request{URI: uri})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		r.report.addFailure(ruleReadFails, uri, "reading it a second time", err)
		return
	}
	r.checkETags(ctx, uri, first)
	if r.compare(uri, first, second) && from != nil && from.declared.Ranges && len(first.contents) == 1 {
		r.checkRange(ctx, uri, &first.contents[0])
	}
}

// compare reports whether two readings are the same.
func (r *run) compare(uri string, first, second *reading) (same bool) {
	if len(first.contents) != len(second.contents) {
		r.report.add(ruleReadUnstable, uri, "it has %d contents, then %d", len(first.contents), len(second.contents))
		return false
	}
	same = true
	for i := range first.contents {
		a, b := &first.contents[i], &second.contents[i]
		switch equal := a.sameBytes(b); {
		case equal && a.ETag != b.ETag:
			r.report.add(ruleETagUnstable, uri, "it has the etag %.60q, then %.60q", a.ETag, b.ETag)
		case equal || a.ETag != b.ETag:
		case a.ETag != "":
			r.report.add(ruleETagStale, uri, "other bytes have the etag %.60q too", a.ETag)
		case a.LastModified == b.LastModified:
			r.report.add(ruleReadUnstable, uri, "it has %d bytes, then %d bytes that differ from them", a.size, b.size)
		}
		same = same && a.sameBytes(b)
	}
	return same
}

// checkETags asks for news since the version that was read, and since one that never was.
func (r *run) checkETags(ctx context.Context, uri string, got *reading) {
	main := got.main(uri)
	if main == nil || main.ETag == "" {
		return
	}
	for _, etag := range []string{main.ETag, noSuchETag} {
		again, err := r.read(ctx, &abi.Request{URI: uri, IfNoneMatch: etag})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.report.addFailure(ruleETagMatch, uri, "reading it with an etag", err)
			return
		}
		for i := range again.contents {
			if c := &again.contents[i]; c.NotModified && c.ETag != etag {
				r.report.add(ruleETagMatch, uri, "asked with the etag %.60q it is not modified, with the etag %.60q",
					etag, c.ETag)
			}
		}
	}
}

// checkRange reads a part from the middle of a content whose template declares ranges. The whole is an answer too: the
// host cuts it.
func (r *run) checkRange(ctx context.Context, uri string, c *content) {
	offset := uint64(len(c.kept)) / 3
	length := max(1, offset)
	if c.size == 0 {
		return
	}
	part, err := r.read(ctx, &abi.Request{URI: uri, RangeOffset: offset, RangeLength: length})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		r.report.addFailure(ruleRangeWrong, uri, "reading a part of it", err)
		return
	}
	got := &part.contents[0]
	want := c.kept[offset:min(offset+length, uint64(len(c.kept)))]
	switch {
	case len(part.contents) > 1:
		r.report.add(ruleRangeWrong, uri, "it has %d contents instead of 1", len(part.contents))
	case got.RangeTotal == 0 && got.sameBytes(c):
	case got.RangeTotal != c.size:
		r.report.add(ruleRangeWrong, uri, "range_total is %d, it has %d bytes", got.RangeTotal, c.size)
	case !bytes.Equal(got.kept, want) || got.size != uint64(len(want)):
		r.report.add(ruleRangeWrong, uri, "asked for %d bytes from %d on, it answers %d that are not those",
			length, offset, got.size)
	}
}
