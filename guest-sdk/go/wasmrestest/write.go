package wasmrestest

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Writable gives a directory of this machine to read and write, as [testing.T.TempDir] makes one, for
// [Provider.Mounts]. There is no bound for what the provider adds.
func Writable(dir string) fs.FS { return writable{os.DirFS(dir), dir} }

type writable struct {
	fs.FS
	dir string
}

// change answers one of the services that change files.
func (c *call) change(service uint32, q serviceRequest) (code uint32) {
	fsys, name, err := c.p.mount(q.name)
	if err != nil {
		return fileCode(err)
	}
	w, ok := fsys.(writable)
	switch {
	case !ok:
		return codeDenied
	case name == ".":
		return codeInvalidParams
	case service == serviceFileRemove:
		return changeCode(os.Remove(w.path(name)))
	}
	if err := w.write(name, q.data, q.appends); err != nil {
		return changeCode(err)
	}
	info, err := os.Stat(w.path(name))
	if err == nil {
		c.response = appendFile(nil, info)
	}
	return changeCode(err)
}

func (w writable) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w writable) write(name, data string, appends bool) error {
	if err := os.MkdirAll(w.path(path.Dir(name)), 0o755); err != nil {
		return err
	}
	flag := os.O_TRUNC
	if appends {
		flag = os.O_APPEND
	}
	file, err := os.OpenFile(w.path(name), os.O_WRONLY|os.O_CREATE|flag, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(data)
	return errors.Join(err, file.Close())
}

// changeCode is fileCode where what is not possible has to do with the name.
func changeCode(err error) uint32 {
	if code := fileCode(err); code != codeInternal {
		return code
	}
	return codeInvalidParams
}
