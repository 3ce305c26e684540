package check

import (
	"bytes"
	"context"
	"crypto/sha256"
	"hash"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/wire"
)

const (
	maxContents = 100_000 // of one read
	maxKept     = 1 << 20 // bytes of one read that are kept, the rest is counted and digested
)

// A reading is what one read has answered. It takes it as an [abi.Sink].
type reading struct {
	contents []content
	room     int    // bytes that may yet be kept
	scratch  []byte // of no meaning: what a text is encoded to, to be checked
}

// A content is one content, of which only the beginning is kept.
type content struct {
	abi.Content
	size    uint64
	kept    []byte
	digest  hash.Hash
	text    wire.Text
	invalid bool // a text that is not UTF-8
}

// read reads a resource whole or, with an offset or a length, a part of it.
func (r *run) read(ctx context.Context, req *abi.Request) (*reading, error) {
	got := &reading{room: maxKept}
	if _, err := r.cfg.Source.Read(ctx, req, got); err != nil {
		return nil, err
	}
	if len(got.contents) == 0 {
		return nil, abi.Errorf(abi.CodeProtocol, "the read is answered without a content")
	}
	for i := range got.contents {
		got.contents[i].end()
	}
	return got, nil
}

// Content implements [abi.Sink].
func (g *reading) Content(c *abi.Content) error {
	if len(g.contents) == maxContents {
		return abi.Errorf(abi.CodeTooMany, "there are more than %d contents", maxContents)
	}
	head := *c
	head.Inline = nil
	g.contents = append(g.contents, content{Content: head, digest: sha256.New()})
	return nil
}

// Body implements [abi.Sink].
func (g *reading) Body(p []byte) error {
	if len(g.contents) == 0 {
		return abi.Errorf(abi.CodeProtocol, "bytes come before a content")
	}
	c := &g.contents[len(g.contents)-1]
	c.size += uint64(len(p))
	c.digest.Write(p)
	if c.Kind == abi.KindText && !c.invalid {
		var ok bool
		g.scratch, ok = c.text.Append(g.scratch[:0], p)
		c.invalid = !ok
	}
	n := min(len(p), g.room)
	c.kept = append(c.kept, p[:n]...)
	g.room -= n
	return nil
}

// Progress implements [abi.Sink].
func (g *reading) Progress(abi.Progress) {}

func (c *content) end() {
	if c.Kind == abi.KindText && !c.invalid {
		c.invalid = !c.text.End()
	}
}

// whole reports whether all bytes of c were kept.
func (c *content) whole() bool { return uint64(len(c.kept)) == c.size }

func (c *content) sameBytes(o *content) bool {
	return c.Kind == o.Kind && c.size == o.size && bytes.Equal(c.digest.Sum(nil), o.digest.Sum(nil))
}

// main gives the content that answers for uri itself: nil when there are several and none has it.
func (g *reading) main(uri string) *content {
	for i := range g.contents {
		if c := &g.contents[i]; abi.NormalURI(c.URI) == abi.NormalURI(uri) {
			return c
		}
	}
	if len(g.contents) == 1 {
		return &g.contents[0]
	}
	return nil
}
