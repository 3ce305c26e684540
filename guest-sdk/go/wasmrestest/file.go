package wasmrestest

import (
	"errors"
	"io"
	"io/fs"
	"sort"
	"strings"
	"testing/fstest"
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// errNoFile is about what cannot be looked at, for whatever reason. As on the host, the provider does not learn why.
var errNoFile = errors.New("no such file")

// missing hides what is wrong with a path, unless it is a permission.
func missing(err error) error {
	if err == nil || errors.Is(err, fs.ErrPermission) {
		return err
	}
	return errNoFile
}

func fileCode(err error) uint32 {
	switch {
	case err == nil:
		return codeOK
	case errors.Is(err, errNoFile), errors.Is(err, fs.ErrNotExist):
		return codeNotFound
	case errors.Is(err, fs.ErrPermission):
		return codeDenied
	case errors.Is(err, fs.ErrInvalid):
		return codeInvalidParams
	}
	return codeInternal
}

// mount finds the file system that holds a guest path: the one mounted deepest. Other paths are not granted.
func (p *Provider) mount(path string) (fsys fs.FS, name string, err error) {
	err = fs.ErrPermission
	deepest := -1
	for at, candidate := range p.Mounts {
		rest, ok := strings.CutPrefix(path, strings.TrimSuffix(at, "/"))
		if !ok || rest != "" && rest[0] != '/' || len(at) <= deepest {
			continue
		}
		fsys, name, err, deepest = candidate, strings.TrimPrefix(rest, "/"), nil, len(at)
	}
	if name == "" {
		name = "."
	}
	if err == nil && !fs.ValidPath(name) {
		err = fs.ErrInvalid
	}
	return fsys, name, err
}

// above gives the folders in one that is not granted itself, but has granted ones below: the host lists the way to them.
func (p *Provider) above(path string) fstest.MapFS {
	folders := fstest.MapFS{}
	for at := range p.Mounts {
		if rest, ok := strings.CutPrefix(at, strings.TrimSuffix(path, "/")+"/"); ok && rest != "" {
			name, _, _ := strings.Cut(rest, "/")
			folders[name] = &fstest.MapFile{Mode: fs.ModeDir, ModTime: time.UnixMilli(0)}
		}
	}
	return folders
}

// file answers one of the file services.
func (c *call) file(service uint32, q serviceRequest) error {
	fsys, name, err := c.p.mount(q.name)
	if above := c.p.above(q.name); err != nil && len(above) > 0 {
		fsys, name, err = above, ".", nil
	}
	if err != nil {
		return err
	}
	if service == serviceFileList {
		return c.list(fsys, name, q)
	}
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return missing(err)
	}
	c.response = appendFile(nil, info)
	if service == serviceFileStat {
		return nil
	}
	if info.IsDir() {
		return fs.ErrInvalid
	}
	c.bytes, err = readRange(fsys, name, q.offset, q.length)
	return err
}

// list answers with the entries after q.after. What cannot be described, as a file that just went, is left out.
func (c *call) list(fsys fs.FS, name string, q serviceRequest) error {
	if info, err := fs.Stat(fsys, name); err != nil {
		return missing(err)
	} else if !info.IsDir() {
		return fs.ErrInvalid
	}
	entries, err := fs.ReadDir(fsys, name)
	if err != nil {
		return err
	}
	entries = entries[sort.Search(len(entries), func(i int) bool { return entries[i].Name() > q.after }):]
	limit := listMax
	if q.length > 0 {
		limit = int(min(q.length, listMax))
	}
	for i, e := range entries {
		if i == limit {
			c.response = wire.AppendBool(c.response, 2, true)
			break
		}
		info, err := fs.Stat(fsys, strings.TrimPrefix(name+"/"+e.Name(), "./"))
		if err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			c.response = appendFile(c.response, info)
		}
	}
	return nil
}

func readRange(fsys fs.FS, name string, offset, length uint64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, missing(err)
	}
	defer f.Close()
	if err := skip(f, int64(offset)); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, int64(length)))
}

func skip(f fs.File, n int64) error {
	if seeker, ok := f.(io.Seeker); ok {
		_, err := seeker.Seek(n, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, f, n)
	return err
}

func appendFile(b []byte, info fs.FileInfo) []byte {
	b, at := wire.Begin(b, 1)
	b = wire.AppendString(b, 1, info.Name())
	if !info.IsDir() {
		b = wire.AppendUint(b, 2, uint64(info.Size()))
	}
	b = wire.AppendUint(b, 3, uint64(info.ModTime().UnixMilli()))
	b = wire.AppendBool(b, 4, info.IsDir())
	return wire.End(b, at)
}
