package wasmres

import (
	"io/fs"
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// fileHead is how many bytes a request has beside texts and data, at most.
const fileHead = 64

// A fileRequest is what a service is asked about a path.
type fileRequest struct {
	offset, length uint64
	after          string
	data           []byte
	appends        bool
}

func (q *fileRequest) append(b []byte) []byte {
	b = wire.AppendUint(b, 2, q.offset)
	b = wire.AppendUint(b, 3, q.length)
	b = wire.AppendString(b, 4, q.after)
	if len(q.data) > 0 {
		b = wire.AppendBytes(b, 5, q.data)
	}
	return wire.AppendBool(b, 6, q.appends)
}

// askOne calls a file service that answers one entry.
func (d Directory) askOne(service uint32, op, name string, q fileRequest) (*fileEntry, error) {
	page, _, err := d.ask(service, op, name, q)
	if err != nil {
		return nil, err
	}
	if len(page) != 1 {
		return nil, &fs.PathError{Op: op, Path: name, Err: ErrInternal}
	}
	return page[0].(*fileEntry), nil
}

// ask calls one of the file services.
func (d Directory) ask(service uint32, op, name string, q fileRequest) (page []fs.DirEntry, more bool, err error) {
	if !fs.ValidPath(name) {
		return nil, false, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	path := d.path + "/" + name
	if name == "." {
		path = orElse(d.path, "/")
	}
	b := wire.AppendString(make([]byte, 0, fileHead+len(path)+len(q.after)+len(q.data)), 1, path)
	code, n := host.Call(service, q.append(b))
	if code != codeOK {
		return nil, false, &fs.PathError{Op: op, Path: name, Err: fileError(code)}
	}
	page, more, ok := entriesOf(response(n))
	if !ok {
		return nil, false, &fs.PathError{Op: op, Path: name, Err: ErrInternal}
	}
	return page, more, nil
}

// fileError gives the error of package fs where there is one.
func fileError(code uint32) error {
	switch code {
	case codeNotFound:
		return fs.ErrNotExist
	case codeDenied:
		return fs.ErrPermission
	case codeInvalidParams:
		return fs.ErrInvalid
	}
	return &Error{Code: Code(code)}
}

func entriesOf(s string) (page []fs.DirEntry, more, ok bool) {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return nil, false, false
		}
		switch f.Num {
		case 1:
			e, ok := entryOf(f.Text)
			if !ok {
				return nil, false, false
			}
			page = append(page, e)
		case 2:
			more = f.Bits != 0
		}
		s = rest
	}
	return page, more, true
}

func entryOf(s string) (e *fileEntry, ok bool) {
	e = &fileEntry{}
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return nil, false
		}
		switch f.Num {
		case 1:
			e.name = f.Text
		case 2:
			if e.size = int64(f.Bits); e.size < 0 {
				return nil, false
			}
		case 3:
			e.modified = int64(f.Bits)
		case 4:
			e.dir = f.Bits != 0
		}
		s = rest
	}
	return e, true
}

// A fileEntry describes a file, both as fs.FileInfo and as fs.DirEntry.
type fileEntry struct {
	name     string
	size     int64
	modified int64 // milliseconds since 1970
	dir      bool
}

func (e *fileEntry) Name() string               { return e.name }
func (e *fileEntry) Size() int64                { return e.size }
func (e *fileEntry) ModTime() time.Time         { return time.UnixMilli(e.modified).UTC() }
func (e *fileEntry) IsDir() bool                { return e.dir }
func (e *fileEntry) Sys() any                   { return nil }
func (e *fileEntry) Info() (fs.FileInfo, error) { return e, nil }
func (e *fileEntry) Type() fs.FileMode          { return e.Mode().Type() }
func (e *fileEntry) Mode() fs.FileMode {
	if e.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// String is what fs.FileInfo and fs.DirEntry print as.
func (e *fileEntry) String() string { return fs.FormatDirEntry(e) }
