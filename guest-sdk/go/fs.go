package wasmres

import (
	"io"
	"io/fs"
	"strings"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
)

const (
	readMax = 64 << 10 // bytes of a file that one service call fetches
	roomMax = 16 << 20 // bytes that are allocated at once because a file is said to have them

	// sizelessMax is how many bytes ReadFile reads of a file whose size is told as 0.
	sizelessMax = 16 << 20
)

// Dir gives a directory the operator granted, by its path as the guest sees it, as in Dir("/project"). It needs the
// power "fs": see [Ask].
//
// In native tests wasmrestest mounts any fs.FS in its place.
func Dir(path string) Directory { return Directory{strings.TrimSuffix(path, "/")} }

// A Directory is an [fs.FS] of granted files, and writes them where the operator granted that. Names are those of
// package fs: relative, with slashes. One that leads out of the directory is invalid. Files are read in pieces, so
// that [Stream] can serve big ones; an open file is an [io.ReaderAt] and an [io.Seeker] too. A file whose size is told as
// 0 may have bytes all the same, as those of /proc have: reading to its end gives them.
type Directory struct{ path string } // empty for the root

// ReadDirAfter gives the entries of a folder of dir, in order, whose names come after one, as from the cursor of a
// [Page]: n of them, fewer where there are no more, or all if n is 0. What comes before is not read when dir is a
// [Directory].
func ReadDirAfter(dir fs.FS, name, after string, n int) ([]fs.DirEntry, error) {
	d, ok := dir.(Directory)
	if !ok {
		return readDirAfter(dir, name, after, n)
	}
	folder := &openDir{dir: d, name: name, after: after}
	entries, err := folder.ReadDir(n)
	if err == io.EOF {
		err = nil
	}
	return entries, err
}

func readDirAfter(dir fs.FS, name, after string, n int) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(dir, name)
	for len(entries) > 0 && entries[0].Name() <= after {
		entries = entries[1:]
	}
	if n > 0 {
		entries = entries[:min(n, len(entries))]
	}
	return entries, err
}

// Open implements [fs.FS].
func (d Directory) Open(name string) (fs.File, error) {
	e, err := d.stat("open", name)
	if err != nil {
		return nil, err
	}
	if e.dir {
		return &openDir{dir: d, name: name, entry: e}, nil
	}
	return &openFile{dir: d, name: name, entry: e}, nil
}

// Stat implements [fs.StatFS].
func (d Directory) Stat(name string) (fs.FileInfo, error) {
	e, err := d.stat("stat", name)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// ReadFile implements [fs.ReadFileFS]. A file whose size is told as 0 is [ErrTooLarge] beyond 16 MiB.
func (d Directory) ReadFile(name string) ([]byte, error) {
	e, err := d.stat("open", name)
	if err != nil {
		return nil, err
	}
	room := min(e.size, roomMax) + 1 // one more to meet the end
	if e.size == 0 {
		room = readMax // what the kernel makes up is read at once, so that its parts agree
	}
	b := make([]byte, 0, room)
	for {
		if e.size == 0 && len(b) > sizelessMax {
			return nil, &fs.PathError{Op: "read", Path: name, Err: ErrTooLarge}
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := d.readAt(name, b[len(b):cap(b)], uint64(len(b)))
		if b = b[:len(b)+n]; err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// ReadDir implements [fs.ReadDirFS].
func (d Directory) ReadDir(name string) ([]fs.DirEntry, error) {
	var all []fs.DirEntry
	for after, more := "", true; more; {
		var page []fs.DirEntry
		var err error
		if page, more, err = d.list(name, after, 0); err != nil {
			return all, err
		}
		if all = append(all, page...); more {
			after = page[len(page)-1].Name()
		}
	}
	return all, nil
}

// stat asks for one file or folder; op names the operation in errors.
func (d Directory) stat(op, name string) (*fileEntry, error) {
	e, err := d.askOne(serviceFileStat, op, name, fileRequest{})
	if err == nil && name == "." {
		e.name = "."
	}
	return e, err
}

// readAt fetches bytes of a file, at most [readMax]; none means [io.EOF].
func (d Directory) readAt(name string, p []byte, offset uint64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	p = p[:min(len(p), readMax)]
	if _, _, err := d.ask(serviceFileRead, "read", name, fileRequest{offset: offset, length: uint64(len(p))}); err != nil {
		return 0, err
	}
	n := int(host.Take(channelBody, p, 0))
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// list gives the entries after a name, at most n if n is positive, and whether there are more. A page with more after it
// is not empty.
func (d Directory) list(name, after string, n int) (page []fs.DirEntry, more bool, err error) {
	const op = "readdir"
	page, more, err = d.ask(serviceFileList, op, name, fileRequest{after: after, length: uint64(max(n, 0))})
	if more && len(page) == 0 {
		return nil, false, &fs.PathError{Op: op, Path: name, Err: ErrInternal}
	}
	return page, more, err
}

// An openFile reads a file piece by piece; the host keeps nothing open.
type openFile struct {
	dir    Directory
	name   string
	entry  *fileEntry
	offset int64
	closed bool
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.entry, f.live("stat") }

func (f *openFile) Read(p []byte) (int, error) {
	if err := f.live("read"); err != nil {
		return 0, err
	}
	n, err := f.dir.readAt(f.name, p, uint64(f.offset))
	f.offset += int64(n)
	return n, err
}

// ReadAt implements [io.ReaderAt].
func (f *openFile) ReadAt(p []byte, offset int64) (n int, err error) {
	if err := f.live("read"); err != nil {
		return 0, err
	}
	if offset < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
	}
	for n < len(p) && err == nil {
		var k int
		k, err = f.dir.readAt(f.name, p[n:], uint64(offset)+uint64(n))
		n += k
	}
	return n, err
}

// Seek implements [io.Seeker].
func (f *openFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.offset
	case io.SeekEnd:
		offset += f.entry.size
	}
	if err := f.live("seek"); err != nil {
		return 0, err
	}
	if offset < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, &fs.PathError{Op: "seek", Path: f.name, Err: fs.ErrInvalid}
	}
	f.offset = offset
	return offset, nil
}

func (f *openFile) Close() error {
	err := f.live("close")
	f.closed = true
	return err
}

func (f *openFile) live(op string) error {
	if f.closed {
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrClosed}
	}
	return nil
}

// An openDir lists a folder page by page.
type openDir struct {
	dir   Directory
	name  string
	entry *fileEntry
	after string
	ended bool
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.entry, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}

// ReadDir implements [fs.ReadDirFile].
func (d *openDir) ReadDir(n int) (all []fs.DirEntry, err error) {
	for !d.ended && (n <= 0 || len(all) < n) {
		page, more, err := d.dir.list(d.name, d.after, n-len(all))
		if err != nil {
			return all, err
		}
		d.ended = !more
		if len(page) > 0 {
			d.after = page[len(page)-1].Name()
		}
		all = append(all, page...)
	}
	if n > 0 && len(all) == 0 {
		return nil, io.EOF
	}
	return all, nil
}
