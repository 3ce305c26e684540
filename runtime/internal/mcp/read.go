package mcp

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/textenc"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/resource"
)

// maxHint is the most bytes allocated because a guest announced them.
const maxHint = 1 << 20

func (c *Core) read(ctx context.Context, r *request) error {
	uri, err := required("uri", r.params.uri)
	if err != nil {
		return err
	}
	c.beginTraced(r, uri)
	r.out = append(r.out, `"contents":[`...)
	reply, err := c.readInto(ctx, r, uri, false)
	if err != nil {
		return err
	}
	r.out = append(r.out, ']')
	r.endCacheable(reply.TTLMillis, reply.CacheScope)
	return nil
}

// readInto appends the contents of a resource, separated by commas.
func (c *Core) readInto(ctx context.Context, r *request, uri string, asBlocks bool) (*abi.Reply, error) {
	if len(uri) <= abi.MaxURI {
		r.uri = uri
	}
	parsed, err := abi.ParseURI(uri)
	if err != nil {
		return nil, err
	}
	s := &r.contents
	*s = contentEncoder{r: r, asBlocks: asBlocks, progress: newProgress(r)}
	if err := s.setRange(); err != nil {
		return nil, err
	}
	req := r.sourceRequest()
	req.URI = parsed
	defer s.progress.end()
	reply, err := c.readRange(ctx, req, s.byteRange, s)
	if err == nil {
		err = s.close()
	}
	if err == nil && s.count == 0 {
		err = abi.Errorf(abi.CodeInternal, "The provider gave no content")
	}
	return reply, err
}

// A contentEncoder is the [abi.Sink] of a read: it encodes contents into the result as they arrive.
type contentEncoder struct {
	// fixed at creation
	r        *request
	asBlocks bool // as content blocks, for the result of a tool

	waiter    resource.Waiter // nil for none
	progress  *progress
	byteRange *rangeSink // nil for whole contents
	count     int
	waited    atomic.Int64 // nanoseconds; see Blocked
	tail      string       // closes the content last begun
	kind      abi.Kind
	text      textenc.Text
	blob      textenc.Base64
}

// setRange reads the requested range of bytes, if there is one. Tools have none.
func (s *contentEncoder) setRange() error {
	if s.asBlocks {
		return nil
	}
	w, err := parseRange(s.r.params.window)
	s.byteRange = newRangeSink(w, s)
	return err
}

// Content implements [abi.Sink].
func (s *contentEncoder) Content(c *abi.Content) error {
	if err := s.close(); err != nil {
		return err
	}
	if c.Kind != abi.KindText && c.Kind != abi.KindBlob {
		return abi.Errorf(abi.CodeProtocol, "A content is neither text nor blob")
	}
	s.r.out = comma(s.r.out, s.count)
	s.count++
	s.kind = c.Kind
	s.begin(c)
	return s.makeRoom(encodedSize(c))
}

// makeRoom makes room for n bytes more. If the budget has none, it sends the answer so far.
func (s *contentEncoder) makeRoom(n int) error {
	if s.r.maxChunk == 0 && s.r.grow(n) {
		return nil
	}
	if err := s.r.limitChunks(); err != nil {
		return err
	}
	return s.flushIfFull()
}

// begin appends a content up to its bytes.
func (s *contentEncoder) begin(c *abi.Content) {
	b := s.r.out
	s.tail = `}`
	if c.Kind == abi.KindBlob && s.r.message != nil {
		s.r.message.binary = true
	}
	if s.asBlocks {
		if media := s.r.mediaBlock(c); media.kind != "" {
			s.r.out = s.r.appendMediaBlock(b, media, c)
			return
		}
		b = append(b, `{"type":"resource","resource":`...)
		s.tail = `}}`
	}
	b = append(b, `{"uri":`...)
	b = textenc.AppendString(b, abi.NormalURI(c.URI))
	b = s.r.core.types.appendType(b, c.MIMEType, c.URI)
	if s.byteRange == nil {
		b = appendMeta(b, c.Meta, c.ETag, c.LastModified, "")
	}
	if c.Kind == abi.KindText {
		s.r.out = append(b, `,"text":"`...)
		return
	}
	s.r.out = append(b, `,"blob":"`...)
}

// encodedSize estimates how many bytes the encoded content will have.
func encodedSize(c *abi.Content) int {
	n := int(min(max(c.Size, uint64(len(c.Inline))), maxHint))
	if c.Kind == abi.KindBlob {
		return textenc.Base64Len(n)
	}
	return n + n/16 // escapes
}

// Body implements [abi.Sink].
func (s *contentEncoder) Body(p []byte) error {
	for len(p) > 0 {
		n := min(len(p), partSize)
		if err := s.makeRoom(s.encodedLen(n)); err != nil {
			return err
		}
		if s.kind == abi.KindText || s.r.maxChunk > 0 {
			n = s.r.fit(n)
		}
		if err := s.encode(p[:n]); err != nil {
			return err
		}
		if err := s.flushIfFull(); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// flushIfFull sends a long answer in parts. Progress ends with the first of them: no notification may follow it.
func (s *contentEncoder) flushIfFull() error {
	if s.r.count(); !s.r.full() {
		return nil
	}
	began := time.Now()
	s.progress.end()
	if s.waiter != nil {
		s.waiter.BeginWait()
	}
	w := s.r.core.Wait(s.r.stream.Abort)
	err := s.r.flushPart()
	err = cmp.Or(w.End(), err)
	s.waited.Add(int64(time.Since(began)))
	if s.waiter != nil {
		s.waiter.EndWait()
	}
	return err
}

// OnWait implements [resource.WaitingSink].
func (s *contentEncoder) OnWait(w resource.Waiter) { s.waiter = w }

// Blocked returns how long the client has kept the guest waiting in this read.
func (s *contentEncoder) Blocked() time.Duration { return time.Duration(s.waited.Load()) }

// encodedLen returns how many bytes n bytes of the content become when encoded. It assumes few escapes in text.
func (s *contentEncoder) encodedLen(n int) int {
	switch {
	case s.kind == abi.KindBlob:
		return textenc.Base64Len(n + 2)
	case n > inflight.Free:
		return n + inflight.Free // for some escapes
	}
	return n
}

func (s *contentEncoder) encode(p []byte) error {
	switch s.kind {
	case abi.KindText:
		var ok bool
		if s.r.out, ok = s.text.Append(s.r.out, p); !ok {
			return notText()
		}
	case abi.KindBlob:
		s.r.out = s.blob.Append(s.r.out, p)
	default:
		return abi.Errorf(abi.CodeProtocol, "A body without a content to belong to")
	}
	return nil
}

func notText() error {
	return abi.Errorf(abi.CodeInvalidText, "The text is not UTF-8: serve it as a blob, or convert it")
}

// Progress implements [abi.Sink].
func (s *contentEncoder) Progress(p abi.Progress) { s.progress.report(p) }

// close closes the content last begun, if there is one.
func (s *contentEncoder) close() error {
	switch s.kind {
	case abi.KindText:
		if !s.text.End() {
			return notText()
		}
	case abi.KindBlob:
		s.r.out = s.blob.End(s.r.out)
	default:
		return nil
	}
	s.kind = abi.KindNone
	s.r.out = append(s.r.out, '"')
	s.r.out = s.byteRange.appendMeta(s.r.out, s.r.links) // the range is known only at the end
	s.r.out = append(s.r.out, s.tail...)
	return nil
}
