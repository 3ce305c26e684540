package wasmres

import (
	"io"
	"time"
	"unsafe"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// A Content is one piece of what a read answers, made by [Text], [Bytes], [Stream] or [NotModified]. Its methods
// return a changed copy, so that they chain: Text(csv).MIME("text/csv").
type Content struct {
	uri, mime, etag, meta string
	modified              time.Time
	kind                  uint64
	data                  []byte
	reader                io.Reader // nil when data holds everything
	size                  int64     // of reader; negative when unknown
	total                 uint64    // of the whole when this is a range
	unmodified            bool
}

// Text makes a content of UTF-8 text.
func Text(s string) Content {
	return Content{kind: kindText, data: unsafe.Slice(unsafe.StringData(s), len(s))} // only ever read
}

// Bytes makes a binary content. b must not change until the handler's answer is out.
func Bytes(b []byte) Content { return Content{kind: kindBlob, data: b} }

// Stream makes a binary content of what r gives until [io.EOF], without holding it in memory; [Content.AsText] makes it
// text. size is how many bytes that are, or -1 when unknown; 0 says no more than -1. If r is an [io.Closer] it is closed in the end. The host's
// limits hold for streams too: by default 64 MiB and 2 s for a read.
func Stream(r io.Reader, size int64) Content {
	return Content{kind: kindBlob, reader: r, size: size}
}

// NotModified answers that what the asker has, [Request.IfNoneMatch], is current.
func NotModified(etag string) Content { return Content{etag: etag, unmodified: true} }

// AsText says that a stream is UTF-8 text.
func (c Content) AsText() Content { c.kind = kindText; return c }

// URI names the resource this content is of; without it, it is the one that was asked for.
func (c Content) URI(uri string) Content { c.uri = uri; return c }

// MIME sets the type; without it the Route's counts.
func (c Content) MIME(mime string) Content { c.mime = mime; return c }

// ETag names this version of the content. A sole content with the asker's etag is answered without its bytes.
func (c Content) ETag(etag string) Content { c.etag = etag; return c }

// LastModified tells when the content changed last.
func (c Content) LastModified(when time.Time) Content { c.modified = when; return c }

// Meta sets the _meta of the content, a JSON object.
func (c Content) Meta(json string) Content { c.meta = json; return c }

// RangeOf says that the content is just the range that was asked for, out of total bytes: see [Request.Range].
func (c Content) RangeOf(total int64) Content { c.total = size(total); return c }

// length gives how many bytes there are if that is known, else 0.
func (c *Content) length() uint64 {
	if c.reader != nil {
		return size(c.size)
	}
	return uint64(len(c.data))
}

// cut reduces a binary content to the range r asks for, if it can. A stream that cannot seek, and text, are answered
// whole.
func (c *Content) cut(r *Request) error {
	if r.Range == (Range{}) || c.total != 0 || c.kind != kindBlob {
		return nil
	}
	total := c.length()
	seeker, _ := c.reader.(io.Seeker)
	if c.reader != nil && (seeker == nil || c.size <= 0) { // a size of 0 may be that of a file of /proc, which has bytes
		return nil
	}
	start := min(r.Range.Offset, total)
	n := total - start
	if r.Range.Length > 0 {
		n = min(n, r.Range.Length)
	}
	c.total = total
	if c.reader == nil {
		c.data = c.data[start : start+n]
		return nil
	}
	if _, err := seeker.Seek(int64(start), io.SeekStart); err != nil {
		return err
	}
	c.reader, c.size = io.LimitReader(c.reader, int64(n)), int64(n)
	return nil
}

// append appends the head, and the bytes too when inline.
func (c *Content) append(b []byte, r *Request, route *Route, inline bool) []byte {
	b, at := wire.Begin(b, 3)
	b = wire.AppendString(b, 1, orElse(c.uri, r.URI))
	if !c.unmodified {
		b = wire.AppendString(b, 2, c.mimeType(route))
	}
	switch {
	case c.unmodified:
	case inline && c.kind == kindText:
		b = wire.AppendBytes(b, 3, c.data)
	case inline:
		b = wire.AppendBytes(b, 4, c.data)
	default:
		b = wire.AppendUint(b, 5, c.kind)
		b = wire.AppendUint(b, 6, c.length())
	}
	b = wire.AppendString(b, 7, c.etag)
	b = wire.AppendString(b, 8, stamp(c.modified))
	b = wire.AppendString(b, 9, c.meta)
	b = wire.AppendBool(b, 10, c.unmodified)
	b = wire.AppendUint(b, 11, c.total)
	return wire.End(b, at)
}

func (c *Content) mimeType(route *Route) string {
	switch {
	case c.mime != "":
		return c.mime
	case route.entry.MIME != "":
		return route.entry.MIME
	case c.kind == kindText:
		return "text/plain"
	}
	return "application/octet-stream"
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
