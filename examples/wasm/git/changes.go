package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// depthMax is how deep folders may lie in each other.
const depthMax = 100

// A change is what became of one file. It has no from when the file is new, and no to when it is gone.
type change struct{ from, to *side }

// A side is a file on one side of a change. It implements [diff.File].
type side struct {
	path  string
	entry object.TreeEntry
}

func (s *side) Path() string            { return s.path }
func (s *side) Mode() filemode.FileMode { return s.entry.Mode }
func (s *side) Hash() plumbing.Hash     { return s.entry.Hash }

// path gives where the file is now, or was.
func (c change) path() string {
	if c.to != nil {
		return c.to.path
	}
	return c.from.path
}

// A differ looks for changes between folders. Unlike the one of go-git it reads no folder that is the same on both
// sides.
type differ struct {
	*repository
	request *wasmres.Request
	changes []change
}

// changes gives what differs between two folders, by path. The first one is of no entries when its hash is zero.
func (g *repository) changes(r *wasmres.Request, from, to plumbing.Hash) ([]change, error) {
	d := differ{repository: g, request: r}
	if err := d.folders(folderOf(from), folderOf(to), "", 0); err != nil {
		return nil, err
	}
	changes := renamed(d.changes)
	slices.SortStableFunc(changes, func(a, b change) int { return strings.Compare(a.path(), b.path()) })
	return changes, nil
}

func folderOf(hash plumbing.Hash) *object.TreeEntry {
	if hash.IsZero() {
		return nil
	}
	return &object.TreeEntry{Mode: filemode.Dir, Hash: hash}
}

// folders compares two folders, either of which may be nil.
func (d *differ) folders(from, to *object.TreeEntry, path string, depth int) error {
	if err := d.request.Err(); err != nil {
		return err
	}
	if depth > depthMax {
		return fmt.Errorf("the folder %q is too deep", path)
	}
	before, err := d.entries(from)
	if err != nil {
		return err
	}
	after, err := d.entries(to)
	if err != nil {
		return err
	}
	for len(before) > 0 || len(after) > 0 {
		var a, b *object.TreeEntry
		order := compareFirst(before, after)
		if order <= 0 {
			a, before = &before[0], before[1:]
		}
		if order >= 0 {
			b, after = &after[0], after[1:]
		}
		if err := d.compare(a, b, path, depth); err != nil {
			return err
		}
	}
	return nil
}

func (d *differ) entries(folder *object.TreeEntry) ([]object.TreeEntry, error) {
	if folder == nil {
		return nil, nil
	}
	tree, err := d.tree(folder.Hash)
	if err != nil {
		return nil, err
	}
	return tree.Entries, nil
}

// compareFirst compares the names that two lists begin with, in the order of git.
func compareFirst(a, b []object.TreeEntry) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return strings.Compare(orderName(a[0]), orderName(b[0]))
}

// orderName gives by what git puts an entry in order.
func orderName(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// compare compares two entries of the same name and sort, one of which may be nil.
func (d *differ) compare(a, b *object.TreeEntry, dir string, depth int) error {
	if a != nil && b != nil && *a == *b {
		return nil
	}
	one := a
	if one == nil {
		one = b
	}
	path := join(dir, one.Name)
	if one.Mode == filemode.Dir {
		return d.folders(a, b, path, depth+1)
	}
	var c change
	if a != nil {
		c.from = &side{path, *a}
	}
	if b != nil {
		c.to = &side{path, *b}
	}
	d.changes = append(d.changes, c)
	return nil
}

// renamed joins files that are gone with new ones that hold the same.
func renamed(changes []change) (joined []change) {
	gone := map[object.TreeEntry][]change{}
	for _, c := range changes {
		if c.to == nil {
			gone[nameless(c.from)] = append(gone[nameless(c.from)], c)
		}
	}
	for _, c := range changes {
		if c.from == nil {
			if same := gone[nameless(c.to)]; len(same) > 0 {
				gone[nameless(c.to)] = same[1:]
				c.from = same[0].from
			}
		}
		if c.to != nil {
			joined = append(joined, c)
		}
	}
	for _, left := range gone {
		joined = append(joined, left...)
	}
	return joined
}

// nameless gives what a file is, wherever it is.
func nameless(s *side) object.TreeEntry {
	return object.TreeEntry{Mode: s.entry.Mode, Hash: s.entry.Hash}
}
