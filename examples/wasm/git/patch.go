package main

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/diff"
	lines "github.com/go-git/go-git/v5/utils/diff"
	"github.com/sergi/go-diff/diffmatchpatch"
)

const (
	diffTime = 100 * time.Millisecond // for one file: what is not compared by then is replaced as a whole
	sniffed  = 8000                   // bytes in which git looks for a zero, which text does not have
)

// writePatch writes the diff of a file; if it is of more bytes than there is room for, just that the file differs.
func (g *repository) writePatch(w io.Writer, c change, room int) error {
	if c.from != nil && c.from.Mode() == filemode.Submodule || c.to != nil && c.to.Mode() == filemode.Submodule {
		_, err := fmt.Fprintf(w, "Submodule %s %s..%s\n", c.path(), hashOf(c.from), hashOf(c.to))
		return err
	}
	from, err := g.blob(c.from)
	if err != nil {
		return err
	}
	to, err := g.blob(c.to)
	if err != nil {
		return err
	}
	p := &patch{change: c, binary: isBinary(from) || isBinary(to) || len(from)+len(to) > room}
	if !p.binary {
		p.compare(string(from), string(to))
	}
	return diff.NewUnifiedEncoder(w, diff.DefaultContextLines).Encode(p)
}

func hashOf(s *side) (hash plumbing.Hash) {
	if s != nil {
		hash = s.Hash()
	}
	return hash
}

// blob gives what is in a file; nothing when there is none.
func (g *repository) blob(s *side) ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	o, err := g.EncodedObject(plumbing.BlobObject, s.Hash())
	if err != nil {
		return nil, missing(s.Hash(), err)
	}
	return o.(*encoded).data, nil
}

func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0 }

// A patch is a change with the lines it is made of. It is a [diff.Patch], and the one [diff.FilePatch] of that.
type patch struct {
	change
	binary bool
	chunks []diff.Chunk
}

func (p *patch) FilePatches() []diff.FilePatch { return []diff.FilePatch{p} }
func (p *patch) Message() string               { return "" }
func (p *patch) IsBinary() bool                { return p.binary }
func (p *patch) Chunks() []diff.Chunk          { return p.chunks }

func (p *patch) Files() (from, to diff.File) {
	if p.from != nil {
		from = p.from
	}
	if p.to != nil {
		to = p.to
	}
	return from, to
}

func (p *patch) compare(from, to string) {
	if from == to {
		return
	}
	for _, d := range lines.DoWithTimeout(from, to, diffTime) {
		p.chunks = append(p.chunks, chunk{d.Text, operations[d.Type]})
	}
}

var operations = map[diffmatchpatch.Operation]diff.Operation{
	diffmatchpatch.DiffEqual: diff.Equal, diffmatchpatch.DiffDelete: diff.Delete, diffmatchpatch.DiffInsert: diff.Add,
}

// A chunk is some lines of a patch.
type chunk struct {
	text      string
	operation diff.Operation
}

func (c chunk) Content() string      { return c.text }
func (c chunk) Type() diff.Operation { return c.operation }
