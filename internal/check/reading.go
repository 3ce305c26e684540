package check

import (
	"bytes"
	"context"
	"crypto/sha256"
	"hash"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/textenc"
	"github.com/wasmres/wasmres/runtime/resource"
)

const (
	maxContents = 100_000 // in one read
	maxHead     = 1 << 20 // bytes stored of one read; the rest is counted and digested
)

// A reading is the answer to one read. It is an [abi.Sink].
type reading struct {
	contents []content
	room     int    // bytes that may still be stored
	scratch  []byte // the encoded text, which is discarded: encoding checks it
}

// A content is one content of a reading.
type content struct {
	abi.Content
	size    uint64
	head    []byte // the beginning
	digest  hash.Hash
	text    textenc.Text
	invalid bool // kind is text and the bytes are not UTF-8
}

// read reads a resource or, with an offset or a length in req, a part of it. It sets the URI of req.
func (r *run) read(ctx context.Context, uri string, req *resource.Request) (got *reading, err error) {
	if req.URI, err = abi.ParseURI(uri); err != nil {
		return nil, err
	}
	got = &reading{room: maxHead}
	if _, err := r.cfg.Source.Read(ctx, req, got); err != nil {
		return nil, err
	}
	if len(got.contents) == 0 {
		return nil, abi.Errorf(abi.CodeProtocol, "the read has no content")
	}
	for i := range got.contents {
		got.contents[i].end()
	}
	return got, nil
}

// Content implements [abi.Sink].
func (g *reading) Content(c *abi.Content) error {
	if len(g.contents) == maxContents {
		return abi.Errorf(abi.CodeTooMany, "the read has more than %d contents", maxContents)
	}
	declared := *c
	declared.Inline = nil
	g.contents = append(g.contents, content{Content: declared, digest: sha256.New()})
	return nil
}

// Body implements [abi.Sink].
func (g *reading) Body(p []byte) error {
	if len(g.contents) == 0 {
		return abi.Errorf(abi.CodeProtocol, "the provider sent bytes before the first content")
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
	c.head = append(c.head, p[:n]...)
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

// isWhole reports whether head has all bytes.
func (c *content) isWhole() bool { return uint64(len(c.head)) == c.size }

func (c *content) sameBytes(o *content) bool {
	return c.Kind == o.Kind && c.size == o.size && bytes.Equal(c.digest.Sum(nil), o.digest.Sum(nil))
}

// main returns the content of uri itself, or the only one; nil if several contents have other URIs.
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
