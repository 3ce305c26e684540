package project

import (
	"errors"
	"io/fs"
	"path"
)

// vendorDir is the directory of a project in Python with packages of others: pip install --target vendor PACKAGE.
const vendorDir = "vendor"

// A vendored is a project whose files are followed by those of its vendorDir: names are as modules import them.
type vendored struct{ fs.FS }

// Open opens a file of the project or, without one of that name, of its vendorDir.
func (v vendored) Open(name string) (fs.File, error) {
	file, err := v.FS.Open(name)
	if errors.Is(err, fs.ErrNotExist) && fs.ValidPath(name) {
		if found, err := v.FS.Open(path.Join(vendorDir, name)); err == nil {
			return found, nil
		}
	}
	return file, err
}
