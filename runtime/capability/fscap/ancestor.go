package fscap

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// An ancestor is a directory above granted ones that is not granted itself. It has nothing but the way to them, so that a
// guest that begins to list at the root of its paths reaches what it may read.
type ancestor struct{ name string }

func (a ancestor) Name() string     { return a.name }
func (ancestor) Size() int64        { return 0 }
func (ancestor) Mode() fs.FileMode  { return fs.ModeDir | 0o555 }
func (ancestor) ModTime() time.Time { return time.UnixMilli(0) }
func (ancestor) IsDir() bool        { return true }
func (ancestor) Sys() any           { return nil }

// children returns the names in an ancestor, in order; none if guest is granted or leads to no grant that can be read.
func (f *FS) children(guest string) []string {
	if _, _, err := f.locate(guest); err == nil || len(guest) > maxPath || !path.IsAbs(guest) || path.Clean(guest) != guest {
		return nil
	}
	prefix := strings.TrimSuffix(guest, "/") + "/"
	var names []string
	for _, m := range f.mounts {
		if rest, ok := strings.CutPrefix(m.guest, prefix); ok && m.access != WriteOnly {
			name, _, _ := strings.Cut(rest, "/")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// look describes what there is at a guest path: a regular file, a directory or an ancestor.
func (f *FS) look(guest string) (fs.FileInfo, error) {
	if f.children(guest) != nil {
		return ancestor{path.Base(guest)}, nil
	}
	file, info, err := f.open(guest)
	if err != nil {
		return nil, err
	}
	return info, file.Close()
}
