package fscap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

const (
	maxRead       = 1 << 20 // bytes of one answer
	maxEntries    = 1000    // entries of one answer
	maxDirEntries = 100_000 // entries that a directory may have to be listed
	maxPath       = 4 << 10 // bytes
)

// A Grant gives guests the regular files below a host directory.
type Grant struct {
	Host   string // existing directory
	Guest  string // absolute slash-separated path at which guests see it, as in "/data"
	Access Access // what guests may do there
	// MaxBytes and MaxFiles bound what guests may add since the grant was opened: bytes, and files and directories. 0
	// means 256 MiB, and 10,000.
	MaxBytes, MaxFiles int64
}

// Access is what guests may do in a directory.
type Access int

// The ways to grant a directory.
const (
	ReadOnly Access = iota
	ReadWrite
	WriteOnly
)

// An FS serves the files of its grants. It is a [capability.Feeder], safe for concurrent use, and closed by the provider
// to which it is granted.
type FS struct {
	mounts  []*mount // longest guest path first
	observe capability.Observer
}

type mount struct {
	guest  string
	host   string // without symbolic links
	root   *os.Root
	access Access

	writing sync.Mutex // held while something is changed; guards quota
	quota   quota
}

var _ capability.Feeder = (*FS)(nil)

// Open opens the directories of all grants; Close releases them. observe receives each use; it may be nil.
func Open(grants []Grant, observe capability.Observer) (*FS, error) {
	f := &FS{observe: observe}
	for _, g := range grants {
		if err := f.add(g); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	slices.SortFunc(f.mounts, func(a, b *mount) int { return len(b.guest) - len(a.guest) })
	return f, nil
}

func (f *FS) add(g Grant) error {
	if !path.IsAbs(g.Guest) || path.Clean(g.Guest) != g.Guest {
		return fmt.Errorf("directory grant: guest path %q must be absolute and clean, as in /data", g.Guest)
	}
	for _, m := range f.mounts {
		if m.guest == g.Guest {
			return fmt.Errorf("directory grant: guest path %q is granted twice", g.Guest)
		}
	}
	host, err := filepath.EvalSymlinks(g.Host) // once, so that the directory that is watched is the one that is read
	if err != nil {
		return fmt.Errorf("directory grant: %w", err)
	}
	root, err := os.OpenRoot(host)
	if err != nil {
		return fmt.Errorf("directory grant: %w", err)
	}
	f.mounts = append(f.mounts, &mount{guest: g.Guest, host: host, root: root, access: g.Access, quota: quota{
		maxBytes: cmp.Or(g.MaxBytes, defaultMaxBytes), maxFiles: cmp.Or(g.MaxFiles, defaultMaxFiles),
	}})
	return nil
}

// Close releases the directories. Calls that still run may fail.
func (f *FS) Close() error {
	var errs []error
	for _, m := range f.mounts {
		errs = append(errs, m.root.Close())
	}
	return errors.Join(errs...)
}

// Services returns the file services, to be granted together.
func (f *FS) Services() capability.Services {
	return capability.Services{
		abi.ServiceFileStat: service{f, "stat", f.stat},
		abi.ServiceFileRead: service{f, "read", f.read},
		abi.ServiceFileList: service{f, "list", f.list},

		abi.ServiceFileWrite:  service{f, "write", f.write},
		abi.ServiceFileRemove: service{f, "remove", f.remove},
	}
}

type service struct {
	fs   *FS
	verb string
	do   func(req *abi.FileRequest) (capability.Response, error)
}

// MayRepeat implements [capability.Repeatable].
func (s service) MayRepeat([]byte) bool {
	return s.verb == "stat" || s.verb == "read" || s.verb == "list"
}

// Call implements [capability.Service].
func (s service) Call(ctx context.Context, request []byte) (capability.Response, error) {
	if err := ctx.Err(); err != nil {
		return capability.Response{}, err
	}
	var req abi.FileRequest
	if err := req.Decode(request); err != nil {
		return capability.Response{}, err
	}
	if s.fs.observe == nil {
		return s.do(&req)
	}
	began := time.Now()
	resp, err := s.do(&req)
	s.fs.observe(ctx, capability.Use{
		Capability: "fs", Subject: fmt.Sprintf("%s %.256q", s.verb, req.Path), Code: abi.CodeOf(err),
		Bytes: uint64(len(resp.Body) + len(req.Data)), Elapsed: time.Since(began),
	})
	return resp, err
}

func (f *FS) stat(req *abi.FileRequest) (capability.Response, error) {
	info, err := f.look(req.Path)
	if err != nil {
		return capability.Response{}, err
	}
	return respond([]fs.FileInfo{info}, false), nil
}

func (f *FS) read(req *abi.FileRequest) (capability.Response, error) {
	if f.children(req.Path) != nil {
		return capability.Response{}, abi.Errorf(abi.CodeInvalidParams, "%.128q is a directory", req.Path)
	}
	file, info, err := f.open(req.Path)
	if err != nil {
		return capability.Response{}, err
	}
	defer file.Close()
	if info.IsDir() {
		return capability.Response{}, abi.Errorf(abi.CodeInvalidParams, "%.128q is a directory", req.Path)
	}
	body, err := readPart(file, info.Size(), req)
	if err != nil {
		return capability.Response{}, classify(req.Path, err)
	}
	resp := respond([]fs.FileInfo{info}, false)
	resp.Body = body
	return resp, nil
}

// readPart gives the bytes that req wants of a file, at most maxRead. They end where the file did when its size was asked
// for. A size of 0 may be unknown, as in procfs: then the file is read as far as it goes.
func readPart(file io.ReaderAt, size int64, req *abi.FileRequest) ([]byte, error) {
	want := uint64(maxRead)
	if req.Length > 0 {
		want = min(want, req.Length)
	}
	if req.Offset > math.MaxInt64-want {
		return nil, nil
	}
	if size <= 0 {
		return io.ReadAll(io.NewSectionReader(file, int64(req.Offset), int64(want)))
	}
	body := make([]byte, min(want, uint64(max(size-int64(req.Offset), 0))))
	n, err := file.ReadAt(body, int64(req.Offset))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return body[:n], err
}

func (f *FS) list(req *abi.FileRequest) (capability.Response, error) {
	if names := f.children(req.Path); names != nil {
		return f.page(req, names), nil
	}
	dir, info, err := f.open(req.Path)
	if err != nil {
		return capability.Response{}, err
	}
	defer dir.Close()
	if !info.IsDir() {
		return capability.Response{}, abi.Errorf(abi.CodeInvalidParams, "%.128q is not a directory", req.Path)
	}
	names, err := dir.Readdirnames(maxDirEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return capability.Response{}, classify(req.Path, err)
	}
	if len(names) > maxDirEntries {
		return capability.Response{}, abi.Errorf(abi.CodeTooMany, "%.128q has more than %d entries", req.Path, maxDirEntries)
	}
	return f.page(req, names), nil
}

// page describes the entries after req.After, in order, without those that guests may not see.
func (f *FS) page(req *abi.FileRequest, names []string) capability.Response {
	limit := maxEntries
	if req.Length > 0 {
		limit = int(min(req.Length, maxEntries))
	}
	slices.Sort(names)
	at, found := slices.BinarySearch(names, req.After)
	if found {
		at++
	}
	var infos []fs.FileInfo
	for _, name := range names[at:] {
		info, err := f.look(path.Join(req.Path, name))
		if err != nil {
			continue
		}
		if len(infos) == limit {
			return respond(infos, true)
		}
		infos = append(infos, linkTarget{info, name})
	}
	return respond(infos, false)
}

// A linkTarget is the target of a link, under the name of the link.
type linkTarget struct {
	fs.FileInfo
	name string
}

func (r linkTarget) Name() string { return r.name }

// open opens the regular file or directory at a guest path.
func (f *FS) open(guest string) (*os.File, fs.FileInfo, error) {
	m, rel, err := f.locate(guest)
	if err != nil {
		return nil, nil, err
	}
	if m.access == WriteOnly {
		return nil, nil, abi.Errorf(abi.CodeDenied, "%.128q may not be read", guest)
	}
	if IsTemporary(rel) {
		return nil, nil, classify(guest, fs.ErrNotExist)
	}
	file, info, err := m.open(rel, os.O_RDONLY)
	if err != nil {
		return nil, nil, classify(guest, err)
	}
	return file, info, nil
}

// open opens a regular file or directory. Anything else is [fs.ErrNotExist]. It checks the type before it opens the
// file: opening a FIFO unblocks the process at its other end, and opening a device may do anything. If another process
// replaces the file in between, the open does not block, and the file is closed at once.
func (m *mount) open(name string, flag int) (*os.File, fs.FileInfo, error) {
	info, err := m.root.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := checkType(info); err != nil {
		return nil, nil, err
	}
	file, err := m.root.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = file.Stat()
	if err == nil {
		err = cmp.Or(checkType(info), m.checkProcess(file, info))
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// checkType returns [fs.ErrNotExist] unless info is of a regular file or a directory.
func checkType(info fs.FileInfo) error {
	if !info.Mode().IsRegular() && !info.IsDir() {
		return fs.ErrNotExist
	}
	return nil
}

// locate finds the grant of a guest path, and the path inside it.
func (f *FS) locate(guest string) (*mount, string, error) {
	if len(guest) > maxPath || !path.IsAbs(guest) || path.Clean(guest) != guest {
		return nil, "", abi.Errorf(abi.CodeInvalidParams, "%.128q is not a clean absolute path", guest)
	}
	for _, m := range f.mounts {
		if rel, ok := strings.CutPrefix(guest, m.guest); ok && (rel == "" || rel[0] == '/' || m.guest == "/") {
			return m, path.Join(".", rel), nil
		}
	}
	return nil, "", abi.Errorf(abi.CodeDenied, "%.128q is not in a granted directory", guest)
}

// classify returns the public error. It reveals no more of the host than whether the file exists.
func classify(guest string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return abi.Errorf(abi.CodeDenied, "%.128q may not be read", guest).Because(err)
	}
	return abi.Errorf(abi.CodeNotFound, "no file %.128q", guest).Because(err)
}

func respond(infos []fs.FileInfo, more bool) capability.Response {
	resp := abi.FileResponse{More: more}
	for _, info := range infos {
		file := abi.File{Name: info.Name(), ModifiedMillis: info.ModTime().UnixMilli(), Dir: info.IsDir()}
		if !info.IsDir() {
			file.Size = uint64(max(info.Size(), 0))
		}
		resp.Files = append(resp.Files, file)
	}
	return capability.Response{Message: resp.Append(nil)}
}
