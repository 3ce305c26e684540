package layout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// PruneOptions say what [Layout.Prune] removes. With the zero PruneOptions, it removes no image that has a name.
type PruneOptions struct {
	// Unnamed is how long an image is kept after it has lost its last name and was last used. 0 means 30 days.
	Unnamed time.Duration
	// Unused has images with a name removed that have not been pulled or used for so long. 0 keeps them.
	Unused time.Duration
	// Grace protects what another process is storing: nothing is removed that was stored, or found to exist, within this
	// time. 0 means an hour.
	Grace time.Duration
	// DryRun has Prune only say what it would remove.
	DryRun bool
}

// defaultGrace is longer than a pull takes.
const defaultGrace = time.Hour

// A PruneResult says what was removed.
type PruneResult struct {
	Names      []string // of images, sorted
	Images     int      // manifests removed from the index, those with names included
	Files      int      // removed, of blobs and of what killed processes have left
	Compressed int      // modules
	Freed      int64    // bytes on disk
}

// Prune removes images as the options say, then all blobs that no remaining image, signature of one, or process needs. It
// compresses modules that need not be ready to run, with [Options.Compress], and removes what killed processes have left.
func (l *Layout) Prune(ctx context.Context, o PruneOptions) (PruneResult, error) {
	if o.Unnamed == 0 {
		o.Unnamed = 30 * 24 * time.Hour
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	result, err := l.collect(ctx, o)
	if err != nil || !l.o.Compress || o.DryRun {
		return result, l.fail(err)
	}
	n, saved, err := l.compressIdle(ctx, o.Grace, maxEntries)
	result.Compressed, result.Freed = n, result.Freed+saved
	return result, l.fail(err)
}

// collect removes entries of the index, then files. No other process changes the layout meanwhile.
func (l *Layout) collect(ctx context.Context, o PruneOptions) (result PruneResult, err error) {
	unlock, err := l.lock(ctx, true)
	if err != nil {
		return result, err
	}
	defer unlock()
	x, err := l.readIndex()
	if err != nil {
		return result, err
	}
	g, err := l.newGraph(ctx, x)
	if err != nil {
		return result, err
	}
	if err := g.mark(o); err != nil {
		return result, err
	}
	if x.remove(func(e oci.Descriptor) bool { return result.note(e, g.drops(e)) }) && !o.DryRun {
		if err := l.writeIndex(x); err != nil {
			return result, err
		}
	}
	slices.Sort(result.Names)
	return result, l.sweep(ctx, g.reached, o, &result)
}

func (r *PruneResult) note(e oci.Descriptor, drop bool) bool {
	if drop {
		r.Images++
	}
	if name := e.Annotations[nameKey]; drop && name != "" {
		r.Names = append(r.Names, name)
	}
	return drop
}

// A graph is what the manifests of an index, and the pins of processes, need.
type graph struct {
	l         *Layout
	ctx       context.Context
	x         *index
	pinned    map[oci.Digest]bool
	manifests map[oci.Digest]*manifest
	referrers map[oci.Digest][]oci.Descriptor // by subject
	reached   map[oci.Digest]bool
	todo      []oci.Descriptor
}

// newGraph reads all manifests of an index. Those that are absent or corrupt name nothing.
func (l *Layout) newGraph(ctx context.Context, x *index) (*graph, error) {
	g := &graph{l: l, ctx: ctx, x: x, manifests: map[oci.Digest]*manifest{}, referrers: map[oci.Digest][]oci.Descriptor{},
		reached: map[oci.Digest]bool{}}
	var err error
	if g.pinned, err = l.pinned(ctx); err != nil {
		return nil, err
	}
	for _, e := range x.Manifests {
		if !isManifest(e.MediaType) {
			return nil, fmt.Errorf("nothing is removed, since what an entry of the media type %.100q needs is unknown", e.MediaType)
		}
		m, err := g.manifest(e)
		if err != nil {
			return nil, err
		}
		if m.Subject != nil {
			g.referrers[m.Subject.Digest] = append(g.referrers[m.Subject.Digest], e)
		}
	}
	return g, nil
}

// manifest fails for a manifest that is intact and cannot be understood: what it needs might be removed.
func (g *graph) manifest(d oci.Descriptor) (*manifest, error) {
	if m := g.manifests[d.Digest]; m != nil {
		return m, nil
	}
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	m, err := g.l.manifest(d)
	var corrupt *CorruptError
	if errors.Is(err, oci.ErrNotFound) || errors.As(err, &corrupt) {
		m, err = &manifest{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("nothing is removed, since the manifest %.100s cannot be read: %w", d.Digest, err)
	}
	g.manifests[d.Digest] = m
	return m, nil
}

// mark reaches all that is to stay.
func (g *graph) mark(o PruneOptions) error {
	for _, e := range g.x.Manifests {
		if g.isRoot(e, o) {
			g.reach(e)
		}
	}
	for d := range g.pinned {
		g.reach(g.pin(d))
	}
	for len(g.todo) > 0 {
		last := len(g.todo) - 1
		d := g.todo[last]
		g.todo = g.todo[:last]
		if !isManifest(d.MediaType) {
			continue
		}
		m, err := g.manifest(d)
		if err != nil {
			return err
		}
		for _, part := range m.parts() {
			g.reach(part)
		}
	}
	return nil
}

func (g *graph) reach(d oci.Descriptor) {
	if g.reached[d.Digest] {
		return
	}
	g.reached[d.Digest] = true
	g.todo = append(g.todo, d)
	for _, r := range g.referrers[d.Digest] {
		g.reach(r)
	}
}

// pin returns the descriptor of what a process has pinned, which may be no longer in the index.
func (g *graph) pin(d oci.Digest) oci.Descriptor {
	if e := g.x.withDigest(d); e != nil {
		return *e
	}
	_, info, err := g.l.stat(d)
	if err != nil || info.Size() > oci.MaxManifest {
		return oci.Descriptor{Digest: d}
	}
	return oci.Descriptor{MediaType: oci.ManifestType, Digest: d, Size: info.Size()}
}

// isRoot reports whether an entry stays for its own sake. What other programs have written always does.
func (g *graph) isRoot(e oci.Descriptor, o PruneOptions) bool {
	stored := storedAt(e)
	if stored.IsZero() {
		return true
	}
	m := g.manifests[e.Digest]
	if used := g.l.lastUse(m); used.After(stored) {
		stored = used
	}
	if e.Annotations[nameKey] != "" {
		return o.Unused == 0 || time.Since(stored) < o.Unused
	}
	return m.Subject == nil && time.Since(stored) < o.Unnamed
}

// drops reports whether an entry goes. If the manifest stays for another reason, its names still stay with it.
func (g *graph) drops(e oci.Descriptor) bool { return !g.reached[e.Digest] }

// sweep removes the files of what was not reached, and what processes that have ended have left. Files that are none of the
// layout stay.
func (l *Layout) sweep(ctx context.Context, reached map[oci.Digest]bool, o PruneOptions, result *PruneResult) error {
	remove := l.removeFile
	if o.DryRun {
		remove = func(string) error { return nil }
	}
	unreached := func(d oci.Digest) bool { return !reached[d] }
	unneeded := func(d oci.Digest) bool {
		_, err := l.root.Lstat(blobFile(d))
		return !reached[d] || err == nil // a process was killed between two steps: the plain file is enough
	}
	count := func(n int, freed int64, err error) error {
		result.Files += n
		result.Freed += freed
		return err
	}
	_, _, failure := l.removeGarbage(ctx, usedDir, "", o.Grace, unreached, remove)
	_, _, pins := l.removeAbandoned(ctx, pinDir, 0, remove)
	return errors.Join(failure, pins,
		count(l.removeGarbage(ctx, blobDir, "", o.Grace, unreached, remove)),
		count(l.removeGarbage(ctx, zstdDir, ".zst", o.Grace, unneeded, remove)),
		count(l.removeAbandoned(ctx, ingestDir, o.Grace, remove)))
}

// removeGarbage has remove called for the files of a folder that are older than age and whose name is a digest that isGarbage
// selects, with a suffix. It returns how many, and the bytes that this frees.
func (l *Layout) removeGarbage(ctx context.Context, dir, suffix string, age time.Duration, isGarbage func(oci.Digest) bool,
	remove func(name string) error) (n int, freed int64, err error) {
	err = l.entries(ctx, dir, func(info fs.FileInfo) {
		hex, ours := strings.CutSuffix(info.Name(), suffix)
		d := oci.Digest("sha256:" + hex)
		if !ours || !info.Mode().IsRegular() || oci.CheckDescriptor(oci.Descriptor{Digest: d}, 0) != nil || !isGarbage(d) {
			return
		}
		if time.Since(info.ModTime()) >= age && remove(dir+"/"+info.Name()) == nil {
			n++
			freed += info.Size()
		}
	})
	return n, freed, err
}
