package fscap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

const (
	defaultMaxBytes = 256 << 20
	defaultMaxFiles = 10_000

	fileMode   = 0o644 // what guests make is not to be run
	folderMode = 0o755
)

// A growth counts what guests have added to a directory, and holds it to a bound.
type growth struct {
	maxBytes, maxFiles int64

	mu           sync.Mutex // guards the fields below
	bytes, files int64
}

// reserve counts so much more, if there is room for it.
func (g *growth) reserve(bytes, files int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
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
	return respond([]fs.FileInfo{info}, false), nil
}

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
	switch old, err := m.root.Lstat(name); {
	case err == nil && old.IsDir():
		return nil, syscall.EISDIR
	case err == nil:
		bytes, files = bytes-old.Size(), 0
	}
	if err := m.growth.reserve(bytes, files); err != nil {
		return nil, err
	}
	info, err := m.swap(name, data)
	if err != nil {
		m.growth.release(bytes, files)
	}
	return info, err
}

// swap writes a file beside another, and then moves it there.
func (m *mount) swap(name string, data []byte) (fs.FileInfo, error) {
	scratch := path.Join(path.Dir(name), fmt.Sprintf(".wasmres-%d-%d", os.Getpid(), m.scratch.Add(1)))
	info, err := m.store(scratch, os.O_CREATE|os.O_EXCL, data)
	if err == nil {
		err = m.root.Rename(scratch, name)
	}
	if err != nil {
		_ = m.root.Remove(scratch)
		return nil, err
	}
	return renamed{info, path.Base(name)}, nil
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
	info, err := m.store(name, os.O_CREATE|os.O_APPEND, data)
	if err != nil {
		m.growth.release(int64(len(data)), files)
	}
	return info, err
}

// store writes to a regular file, and sees to it that what it wrote is on the disk. It never blocks on a pipe.
func (m *mount) store(name string, flag int, data []byte) (fs.FileInfo, error) {
	file, err := m.root.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK|flag, fileMode)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, syscall.EISDIR)
	}
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
