package main

import (
	"io"
	"io/fs"
)

const (
	pageSize  = 16 << 10
	pagesKept = 512 // of a file: 8 MiB
)

// A pagedFile reads a large file here and there, and remembers what it has read.
type pagedFile struct {
	file io.ReaderAt
	size int64
	kept map[int64][]byte // by number of page
}

func openPaged(dir fs.FS, name string) (*pagedFile, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, ok := f.(io.ReaderAt)
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return &pagedFile{file: file, size: info.Size(), kept: map[int64][]byte{}}, nil
}

// ReadAt implements [io.ReaderAt].
func (p *pagedFile) ReadAt(b []byte, offset int64) (n int, err error) {
	for n < len(b) {
		at := offset + int64(n)
		if at < 0 || at >= p.size {
			return n, io.EOF
		}
		page, err := p.page(at / pageSize)
		if err != nil {
			return n, err
		}
		n += copy(b[n:], page[at%pageSize:])
	}
	return n, nil
}

// page gives a page that begins within the file.
func (p *pagedFile) page(number int64) ([]byte, error) {
	if page, ok := p.kept[number]; ok {
		return page, nil
	}
	if len(p.kept) == pagesKept {
		clear(p.kept)
	}
	start := number * pageSize
	page := make([]byte, min(pageSize, p.size-start))
	if n, err := p.file.ReadAt(page, start); n < len(page) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF // the file has become shorter
		}
		return nil, err
	}
	p.kept[number] = page
	return page, nil
}
