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

	maxDepth = 64 // of files and directories that guests create

	fileMode = 0o644 // files that guests create are never executable
	dirMode  = 0o755
)

// A quota counts what guests have added to a directory, and bounds it. Its fields are guarded by mount.writing.
type quota struct {
	maxBytes, maxFiles int64

	bytes, files int64
}

// reserve adds to the count, if the bound allows it.
func (g *quota) reserve(bytes, files int64) error {
	if bytes > 0 && g.bytes+bytes > g.maxBytes {
		return abi.Errorf(abi.CodeTooLarge, "no more than %d bytes can be added", g.maxBytes)
	}
	if files > 0 && g.files+files > g.maxFiles {
		return abi.Errorf(abi.CodeTooLarge, "no more than %d files and directories can be added", g.maxFiles)
	}
	g.bytes, g.files = max(g.bytes+bytes, 0), max(g.files+files, 0)
	return nil
}

// release removes a reservation that was not used, or the size of what was removed.
func (g *quota) release(bytes, files int64) { _ = g.reserve(-bytes, -files) }

func (f *FS) write(req *abi.FileRequest) (capability.Response, error) {
	m, name, err := f.writable(req.Path)
	if err != nil {
		return capability.Response{}, err
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	if err := m.makeDirs(path.Dir(name)); err != nil {
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

// A written is the [fs.FileInfo] for a guest that may not read the file: it has the size of what the guest wrote.
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
	case strings.Count(name, "/") >= maxDepth || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || IsTemporary(name):
		return nil, "", abi.Errorf(abi.CodeInvalidParams, "%.128q is too deep, or is not a valid file name", guest)
	}
	return m, name, nil
}

// makeDirs makes a directory and its parents, unless they exist.
func (m *mount) makeDirs(name string) error {
	if name == "." {
		return nil
	}
	if _, err := m.root.Stat(name); err == nil {
		return nil // if it is not a directory, opening a file in it fails later
	}
	if err := m.makeDirs(path.Dir(name)); err != nil {
		return err
	}
	if err := m.quota.reserve(0, 1); err != nil {
		return err
	}
	err := m.root.Mkdir(name, dirMode)
	if err != nil {
		m.quota.release(0, 1)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil // another process made it first
	}
	return err
}

// replace replaces the content of a file by data, atomically.
func (m *mount) replace(name string, data []byte) (fs.FileInfo, error) {
	bytes, files := int64(len(data)), int64(1)
	old, err := m.root.Lstat(name)
	switch {
	case err == nil && !old.Mode().IsRegular() && old.Mode().Type() != fs.ModeSymlink:
		return nil, syscall.EISDIR
	case err == nil:
		bytes, files = bytes-old.Size(), 0
	}
	if err := m.quota.reserve(bytes, files); err != nil {
		return nil, err
	}
	info, err := m.swap(name, old, data)
	if err != nil {
		m.quota.release(bytes, files)
	}
	return info, err
}

// temporaryPrefix begins the names of files that will replace others.
const temporaryPrefix = ".wasmres-"

// IsTemporary reports whether name is that of a temporary file, which replaces another when it is complete.
func IsTemporary(name string) bool { return strings.HasPrefix(path.Base(name), temporaryPrefix) }

// swap writes a temporary file in the same directory, and renames it. The new file has the permissions of old, if that was
// a regular file, but is never executable.
func (m *mount) swap(name string, old fs.FileInfo, data []byte) (fs.FileInfo, error) {
	mode := fs.FileMode(fileMode)
	if old != nil && old.Mode().IsRegular() {
		mode = old.Mode().Perm() &^ 0o111
	}
	temporary := path.Join(path.Dir(name), temporaryPrefix+rand.Text())
	file, err := m.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode&^0o077)
	if err != nil {
		return nil, err
	}
	info, err := fill(file, mode, data)
	if err == nil {
		err = m.root.Rename(temporary, name)
	}
	if err != nil {
		_ = m.root.Remove(temporary)
		return nil, err
	}
	return linkTarget{info, path.Base(name)}, nil
}

// fill writes the content of a new file, and closes it.
func fill(file *os.File, mode fs.FileMode, data []byte) (fs.FileInfo, error) {
	defer file.Close()
	if err := file.Chmod(mode); err != nil {
		return nil, err
	}
	return store(file, data)
}

// append appends data to a file.
func (m *mount) append(name string, data []byte) (fs.FileInfo, error) {
	files := int64(0)
	if _, err := m.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		files = 1
	}
	if err := m.quota.reserve(int64(len(data)), files); err != nil {
		return nil, err
	}
	info, err := m.extend(name, data)
	if err != nil {
		m.quota.release(int64(len(data)), files)
	}
	return info, err
}

// extend writes to the end of a regular file, which it makes if it does not exist. It does not open anything but a
// regular file.
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
		return nil, fs.ErrPermission // it is executable, or has another name, perhaps outside of the grant
	}
	return store(file, data)
}

// store writes to a file, and syncs it to disk.
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
	m.quota.release(size, 1)
	return respond(nil, false), nil
}

// classifyWrite returns the public error of a failed write.
func classifyWrite(guest string, err error) error {
	var public *abi.Error
	switch {
	case errors.As(err, &public):
		return err
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return abi.Errorf(abi.CodeDenied, "%.128q may not be written", guest).Because(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return abi.Errorf(abi.CodeUnavailable, "no space left for %.128q", guest).Because(err)
	}
	return abi.Errorf(abi.CodeInvalidParams, "%.128q cannot be written: it is not a file, or not in a directory, or its name is not possible",
		guest).Because(err)
}
