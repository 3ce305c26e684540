package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// A folderJSON says what is in a folder.
type folderJSON struct {
	Ref     string      `json:"ref"`
	Commit  string      `json:"commit"`
	Path    string      `json:"path"`
	Entries []entryJSON `json:"entries"`
}

// An entryJSON describes a file or folder. What cannot be named by a URI has none.
type entryJSON struct {
	Name string `json:"name"`
	Type string `json:"type"` // blob, tree or, for a submodule, commit
	Mode string `json:"mode"`
	Hash string `json:"hash"`
	Size int64  `json:"size,omitempty"` // of a blob, in bytes
	URI  string `json:"uri,omitempty"`
}

func folder(r *wasmres.Request) (wasmres.Content, error) {
	g, c, err := openAt(r)
	if err != nil {
		return wasmres.Content{}, err
	}
	path := strings.TrimSuffix(r.Var("path"), "/")
	tree, err := g.folder(c, path)
	if err != nil {
		return wasmres.Content{}, err
	}
	f := folderJSON{Ref: orElse(r.Var("ref"), headName), Commit: c.Hash.String(), Path: path, Entries: []entryJSON{}}
	for _, e := range tree.Entries {
		if err := r.Err(); err != nil {
			return wasmres.Content{}, err
		}
		f.Entries = append(f.Entries, g.describeEntry(e, path, r.Var("ref")))
	}
	return asJSON(f, f.Ref+" "+f.Commit+" "+path)
}

func (g *repository) describeEntry(e object.TreeEntry, dir, ref string) entryJSON {
	j := entryJSON{Name: e.Name, Mode: fmt.Sprintf("%06o", uint32(e.Mode)), Hash: e.Hash.String()}
	path := join(dir, e.Name)
	switch {
	case e.Mode == filemode.Dir:
		j.Type, j.URI = "tree", uriOf("git://tree/", path, ref)
	case e.Mode == filemode.Submodule:
		j.Type = "commit"
	default:
		j.Type, j.URI = "blob", uriOf("git://file/", path, ref)
		j.Size, _ = g.EncodedObjectSize(e.Hash) // a partial clone may not have it
	}
	return j
}

// folder gives the tree of a folder; the path of the topmost one is empty.
func (g *repository) folder(c *object.Commit, path string) (*object.Tree, error) {
	e := object.TreeEntry{Mode: filemode.Dir, Hash: c.TreeHash}
	if path != "" {
		var err error
		if e, err = g.entry(c, path); err != nil {
			return nil, err
		}
	}
	if e.Mode != filemode.Dir {
		return nil, wasmres.Invalid(strconv.Quote(path) + " is no folder")
	}
	return g.tree(e.Hash)
}

// entry finds what a path leads to.
func (g *repository) entry(c *object.Commit, path string) (e object.TreeEntry, err error) {
	e = object.TreeEntry{Mode: filemode.Dir, Hash: c.TreeHash}
	for name := range strings.SplitSeq(path, "/") {
		if e.Mode != filemode.Dir {
			return e, noPath(c, path)
		}
		tree, err := g.tree(e.Hash)
		if err != nil {
			return e, err
		}
		if e, err = child(tree, name); err != nil {
			return e, noPath(c, path)
		}
	}
	return e, nil
}

// child finds a name in one folder. Whatever else it is, it is never part of a path on a disk.
func child(tree *object.Tree, name string) (object.TreeEntry, error) {
	for _, e := range tree.Entries {
		if e.Name == name {
			return e, nil
		}
	}
	return object.TreeEntry{}, object.ErrEntryNotFound
}

func noPath(c *object.Commit, path string) error {
	return wasmres.NotFound("there is no " + strconv.Quote(path) + " in commit " + c.Hash.String())
}

func (g *repository) tree(hash plumbing.Hash) (*object.Tree, error) {
	o, err := g.EncodedObject(plumbing.TreeObject, hash)
	if err != nil {
		return nil, missing(hash, err)
	}
	return object.DecodeTree(g, o)
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
