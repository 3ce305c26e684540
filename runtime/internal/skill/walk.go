package skill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A walk collects the files of one skill.
type walk struct {
	reader             *Reader
	skill              *Skill
	directories, pages int
	size               uint64
}

// directory adds the files of a directory, and of those in it.
func (w *walk) directory(ctx context.Context, uri string, depth int) error {
	if w.directories++; w.directories > maxDirectories || depth > maxDepth {
		return abi.Errorf(abi.CodeTooMany, "the skill has more than %d directories, or they are nested deeper than %d", maxDirectories, maxDepth)
	}
	parsed, err := abi.ParseURI(uri)
	if err != nil {
		return err
	}
	req := w.reader.Request
	req.URI, req.Cursor = parsed, ""
	var below []string
	for {
		if w.pages++; w.pages > maxPages {
			return abi.Errorf(abi.CodeTooMany, "the directories of the skill have more than %d pages", maxPages)
		}
		reply, err := resource.ReadDirectory(ctx, w.reader.Source, &req)
		if err != nil {
			return err
		}
		w.reader.add(reply)
		for i := range reply.Resources {
			if err := w.entry(&reply.Resources[i], &below); err != nil {
				return err
			}
		}
		if reply.NextCursor == "" {
			break
		}
		req.Cursor = reply.NextCursor
	}
	for _, dir := range below {
		if err := w.directory(ctx, dir, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// entry adds a file to the skill, or a directory to those that are still to be walked.
func (w *walk) entry(r *abi.Resource, below *[]string) error {
	uri := abi.NormalURI(r.URI)
	if r.MIMEType == abi.DirectoryType {
		if *below = append(*below, uri); len(*below) > maxDirectories {
			return abi.Errorf(abi.CodeTooMany, "the skill has more than %d directories", maxDirectories)
		}
		return nil
	}
	if len(w.skill.Files) == MaxFiles {
		return abi.Errorf(abi.CodeTooMany, "the skill has more than %d files", MaxFiles)
	}
	w.skill.Files = append(w.skill.Files, File{URI: uri})
	return nil
}

// readAll reads all files, and the frontmatter of SKILL.md.
func (w *walk) readAll(ctx context.Context, name string) error {
	seen := make(map[string]bool, len(w.skill.Files))
	for i := range w.skill.Files {
		f := &w.skill.Files[i]
		if seen[f.URI] {
			return abi.Errorf(abi.CodeProtocol, "the file %.256s is in the skill twice", f.URI)
		}
		seen[f.URI] = true
		m, err := w.measure(ctx, f, f.URI == w.skill.URI)
		if err != nil {
			return err
		}
		if f.URI != w.skill.URI {
			continue
		}
		if w.skill.Frontmatter, err = ParseFrontmatter(string(m.head), name); err != nil {
			return err
		}
	}
	if w.skill.Frontmatter == "" {
		return invalid("the directory has no SKILL.md")
	}
	return nil
}

// measure reads a file for its size and digest. With keep, it keeps the bytes that may have the frontmatter.
func (w *walk) measure(ctx context.Context, f *File, keep bool) (*meter, error) {
	parsed, err := abi.ParseURI(f.URI)
	if err != nil {
		return nil, err
	}
	req := w.reader.Request
	req.URI, req.Cursor = parsed, ""
	m := &meter{hash: sha256.New(), left: MaxBytes - w.size, keep: keep}
	reply, err := w.reader.Source.Read(ctx, &req, m)
	switch {
	case err != nil:
		return nil, err
	case m.contents != 1:
		return nil, invalid("%.256s has %d contents, expected one, as a file has", f.URI, m.contents)
	}
	w.reader.add(reply)
	w.size += m.size
	f.Size, f.Digest = m.size, "sha256:"+hex.EncodeToString(m.hash.Sum(nil))
	return m, nil
}

// A meter is the [abi.Sink] that measures one content.
type meter struct {
	// fixed at creation
	hash hash.Hash
	left uint64 // bytes that may come
	keep bool

	contents int
	size     uint64
	head     []byte
}

// Content implements [abi.Sink].
func (m *meter) Content(*abi.Content) error { m.contents++; return nil }

// Body implements [abi.Sink].
func (m *meter) Body(p []byte) error {
	if m.size += uint64(len(p)); m.size > m.left {
		return abi.Errorf(abi.CodeTooLarge, "the skill has more than %d bytes", MaxBytes)
	}
	m.hash.Write(p)
	if room := 2*maxFrontmatter - len(m.head); m.keep && room > 0 {
		m.head = append(m.head, p[:min(len(p), room)]...)
	}
	return nil
}

// Progress implements [abi.Sink].
func (m *meter) Progress(abi.Progress) {}
