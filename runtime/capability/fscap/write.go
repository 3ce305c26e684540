package fscap

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

const (
	defaultMaxBytes = 256 << 20
	defaultMaxFiles = 10_000

	maxDepth = 64 // of what guests make

	fileMode   = 0o644 // what guests make is not to be run
	folderMode = 0o755
)

// A growth counts what guests have added to a directory, and holds it to a bound.
type growth struct {
	maxBytes, maxFiles int64

	bytes, files int64
}

// reserve counts so much more, if there is room for it.
func (g *growth) reserve(bytes, files int64) error {
	if bytes > 0 && g.bytes+bytes > g.maxBytes {
		return abi.Errorf(abi.CodeTooLarge, "no more than %d bytes can be added", g.maxBytes)
	}
	if files > 0 && g.files+files > g.maxFiles {
		return abi.Errorf(abi.CodeTooLarge, "no more than %d files and folders can be added", g.maxFiles)
	}
	g.bytes, g.files = max(g.bytes+bytes, 0), max(g.files+files, 0)
	return nil
}

// release gives back what was reserved for what did not come to be.
func (g *growth) release(bytes, files int64) { _ = g.reserve(-bytes, -files) }

func (f *FS) write(req *abi.FileRequest) (capability.Response, error) {
	m, name, err := f.writable(req.Path)
	if err != nil {
		return capability.Response{}, err
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	if err := m.makeFolders(path.Dir(name)); err != nil {
		return capability.Response{}, classifyWrite(req.Path, err)
	}
	store := m.replace
	if req.Appends {
		store = m.append
	}
	info, err := store(name, req.Data)
	if err != nil {
		return capability.Response{}, classifyWrite(req.Path, err)
	}
	if m.access == WriteOnly {
		info = written{info, len(req.Data)}
	}
	return respond([]fs.FileInfo{info}, false), nil
}

// written is what a guest is told of a file it must not read: what it knows.
type written struct {
	fs.FileInfo
	size int
}

func (w written) Size() int64        { return int64(w.size) }
func (w written) ModTime() time.Time { return time.UnixMilli(0) }

// writable finds the grant in which a guest may write to a path, and the path inside it.
func (f *FS) writable(guest string) (*mount, string, error) {
	m, name, err := f.locate(guest)
	switch {
	case err != nil:
		return nil, "", err
	case m.access == ReadOnly:
		return nil, "", abi.Errorf(abi.CodeDenied, "%.128q may only be read", guest)
	case name == ".":
		return nil, "", abi.Errorf(abi.CodeInvalidParams, "%.128q is the granted directory itself", guest)
	case strings.Count(name, "/") >= maxDepth || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || IsScratch(name):
		return nil, "", abi.Errorf(abi.CodeInvalidParams, "%.128q is too deep, or no name that files can have", guest)
	}
	return m, name, nil
}

// makeFolders makes a folder, and those it is in, unless they are there.
func (m *mount) makeFolders(name string) error {
	if name == "." {
		return nil
	}
	if _, err := m.root.Stat(name); err == nil {
		return nil // if it is none, what is in it cannot be opened
	}
	if err := m.makeFolders(path.Dir(name)); err != nil {
		return err
	}
	if err := m.growth.reserve(0, 1); err != nil {
		return err
	}
	err := m.root.Mkdir(name, folderMode)
	if err != nil {
		m.growth.release(0, 1)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil // somebody else was quicker
	}
	return err
}

// replace puts data in the place of what a file has, at once.
func (m *mount) replace(name string, data []byte) (fs.FileInfo, error) {
	bytes, files := int64(len(data)), int64(1)
	old, err := m.root.Lstat(name)
	switch {
	case err == nil && !old.Mode().IsRegular() && old.Mode().Type() != fs.ModeSymlink:
		return nil, syscall.EISDIR
	case err == nil:
		bytes, files = bytes-old.Size(), 0
	}
	if err := m.growth.reserve(bytes, files); err != nil {
		return nil, err
	}
	info, err := m.swap(name, old, data)
	if err != nil {
		m.growth.release(bytes, files)
	}
	return info, err
}

// scratchPrefix begins the names of files that are to take the place of others.
const scratchPrefix = ".wasmres-"

// IsScratch reports whether a name is one of a file that is just being written, to take the place of another.
func IsScratch(name string) bool { return strings.HasPrefix(path.Base(name), scratchPrefix) }

// swap writes a file beside another, and then moves it there. Who may read it are those who could read old, if that was
// a file.
func (m *mount) swap(name string, old fs.FileInfo, data []byte) (fs.FileInfo, error) {
	mode := fs.FileMode(fileMode)
	if old != nil && old.Mode().IsRegular() {
		mode = old.Mode().Perm() &^ 0o111
	}
	scratch := path.Join(path.Dir(name), scratchPrefix+rand.Text())
	file, err := m.root.OpenFile(scratch, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode&^0o077)
	if err != nil {
		return nil, err
	}
	info, err := fill(file, mode, data)
	if err == nil {
		err = m.root.Rename(scratch, name)
	}
	if err != nil {
		_ = m.root.Remove(scratch)
		return nil, err
	}
	return renamed{info, path.Base(name)}, nil
}

// fill writes what a new file is to hold, and closes it.
func fill(file *os.File, mode fs.FileMode, data []byte) (fs.FileInfo, error) {
	defer file.Close()
	if err := file.Chmod(mode); err != nil {
		return nil, err
	}
	return store(file, data)
}

// append puts data after what a file has.
func (m *mount) append(name string, data []byte) (fs.FileInfo, error) {
	files := int64(0)
	if _, err := m.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		files = 1
	}
	if err := m.growth.reserve(int64(len(data)), files); err != nil {
		return nil, err
	}
	info, err := m.extend(name, data)
	if err != nil {
		m.growth.release(int64(len(data)), files)
	}
	return info, err
}

// extend writes to the end of a regular file, which it makes if there is none. What is there and is no regular file is
// not opened.
func (m *mount) extend(name string, data []byte) (fs.FileInfo, error) {
	if old, err := m.root.Stat(name); err == nil && !old.Mode().IsRegular() {
		return nil, syscall.EISDIR
	}
	file, err := m.root.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK|os.O_CREATE|os.O_APPEND, fileMode)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		return nil, errors.Join(err, syscall.EISDIR)
	case info.Mode()&0o111 != 0 || links(info) > 1:
		return nil, fs.ErrPermission // it is run, or somebody else's as well
	}
	return store(file, data)
}

// store writes to a file, and sees to it that what it wrote is on the disk.
func store(file *os.File, data []byte) (fs.FileInfo, error) {
	if _, err := file.Write(data); err != nil {
		return nil, err
	}
	if err := file.Sync(); err != nil {
		return nil, err
	}
	return file.Stat()
}

func (f *FS) remove(req *abi.FileRequest) (capability.Response, error) {
	m, name, err := f.writable(req.Path)
	if err != nil {
		return capability.Response{}, err
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	info, err := m.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = fs.ErrNotExist
	}
	if err == nil {
		err = m.root.Remove(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return capability.Response{}, classify(req.Path, err)
	case err != nil:
		return capability.Response{}, classifyWrite(req.Path, err)
	}
	size := info.Size()
	if info.IsDir() {
		size = 0
	}
	m.growth.release(size, 1)
	return respond(nil, false), nil
}

// classifyWrite says what kept a guest from writing.
func classifyWrite(guest string, err error) error {
	var told *abi.Error
	switch {
	case errors.As(err, &told):
		return err
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return abi.Errorf(abi.CodeDenied, "%.128q may not be written", guest).Because(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return abi.Errorf(abi.CodeUnavailable, "there is no room for %.128q", guest).Because(err)
	}
	return abi.Errorf(abi.CodeInvalidParams, "%.128q cannot be written: it is no file, or is in none, or has a name that is not possible",
		guest).Because(err)
}
