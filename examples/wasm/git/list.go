package main

import (
	"errors"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// list lists the files of HEAD in the order of git, which is that of their paths, byte by byte. The cursor is the path
// of the last file listed, so that a page does not depend on the ones before.
func list(r *wasmres.Request, page *wasmres.Page) error {
	last, ok := strings.CutPrefix(page.Cursor(), "after ")
	if page.Cursor() != "" && (!ok || uriOf("", last, "") == "") {
		return wasmres.Invalid("unknown cursor")
	}
	g, err := open()
	if err != nil {
		return err
	}
	c, err := g.head()
	if c == nil {
		return err
	}
	l := lister{repository: g, request: r, page: page, last: last, modified: c.Committer.When}
	if err := l.walk(c.TreeHash, "", 0); err != errFull {
		return err
	}
	page.Next("after " + l.last)
	return nil
}

// errFull ends a walk whose page is full.
var errFull = errors.New("the page is full")

// A lister walks through folders from behind the last file that was listed.
type lister struct {
	*repository
	request *wasmres.Request
	page    *wasmres.Page
	last    string
	// modified is the time of HEAD's commit: at the latest then a file became what it is there. When exactly, only its
	// history says.
	modified time.Time
}

func (l *lister) walk(hash plumbing.Hash, dir string, depth int) error {
	if err := l.request.Err(); err != nil || depth == depthMax {
		return err
	}
	tree, err := l.tree(hash)
	if err != nil {
		return err
	}
	for _, e := range tree.Entries {
		path := join(dir, e.Name)
		switch {
		case e.Mode == filemode.Dir:
			if below := path + "/"; below < l.last && !strings.HasPrefix(l.last, below) {
				continue
			}
			err = l.walk(e.Hash, path, depth+1)
		case e.Mode != filemode.Submodule && path > l.last:
			err = l.add(path, e.Hash)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) add(path string, hash plumbing.Hash) error {
	uri := uriOf("git://file/", path, "")
	if uri == "" || len(path) > nameMax {
		return nil
	}
	size, _ := l.EncodedObjectSize(hash) // a partial clone may not have it
	entry := wasmres.Entry{URI: uri, Name: path, MIME: byExtension(path), Size: size, LastModified: l.modified}
	if !l.page.Add(entry) {
		return errFull
	}
	l.last = path
	return nil
}
