package main

import (
	"bytes"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const (
	headSize = 64 << 10 // bytes of a file that are read at first; all of it, mostly, and where its size is unknown

	// textMax is how many bytes a text has at most. What is larger is bytes: then a part of it can be read without
	// looking at the rest.
	textMax = 16 << 20
)

func readPath(r *wasmres.Request) (wasmres.Content, error) {
	t, path := configured(r), r.Var("path")
	if strings.HasSuffix(path, "/") {
		return t.folder(path)
	}
	return t.read(r, path)
}

// read answers with a file, or with the part of it that is asked for, without holding it in memory; of a folder with its
// files.
func (t tree) read(r *wasmres.Request, path string) (wasmres.Content, error) {
	f, info, err := t.open(path)
	if err == errFolder {
		return t.folder(path)
	}
	if err != nil {
		return wasmres.Content{}, err
	}
	version := etag(info)
	if r.IfNoneMatch == version {
		return wasmres.NotModified(version), f.Close()
	}
	c, err := content(f, path, info.Size(), r.Range)
	if err != nil {
		f.Close()
		return wasmres.Content{}, t.explain(path, err)
	}
	return c.ETag(version).LastModified(info.ModTime()), nil
}

// open opens a file that is none but a file.
func (t tree) open(path string) (file, fs.FileInfo, error) {
	if err := t.check(path); err != nil {
		return nil, nil, err
	}
	f, err := t.files.Open(path)
	if err != nil {
		return nil, nil, t.explain(path, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errFolder
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f.(file), info, nil
}

// A file is what the SDK opens.
type file interface {
	fs.File
	io.Seeker
}

// etag names a version of a file by its time of change and its size.
func etag(info fs.FileInfo) string {
	return strconv.FormatInt(info.ModTime().UnixMilli(), 36) + "-" + strconv.FormatInt(info.Size(), 36)
}

// content makes a content of a file, or of a part of it. The file is closed when that has been sent.
func content(f file, path string, size int64, want wasmres.Range) (c wasmres.Content, err error) {
	head, size, err := begin(f, size)
	if err != nil {
		return c, err
	}
	mime, text, err := look(path, head, io.LimitReader(f, size-int64(len(head))), size)
	if err != nil {
		return c, err
	}
	start := min(want.Offset, uint64(size))
	n := uint64(size) - start
	if want.Length > 0 {
		n = min(n, want.Length)
	}
	if int64(len(head)) == size {
		c = wasmres.Bytes(head[start : start+n])
		f.Close()
	} else if c, err = stream(f, int64(start), int64(n)); err != nil {
		return c, err
	}
	if text {
		c = c.AsText()
	}
	if want != (wasmres.Range{}) {
		c = c.RangeOf(size)
	}
	return c.MIME(mime), nil
}

// begin reads the first bytes of a file, and gives its size. One whose size is told as 0 may have bytes all the same, as
// those of /proc have: it is read to its end.
func begin(f file, size int64) (head []byte, real int64, err error) {
	if size > 0 {
		head = make([]byte, min(size, headSize))
		_, err = io.ReadFull(f, head)
		return head, size, err
	}
	head, err = io.ReadAll(io.LimitReader(f, textMax+1))
	if len(head) > textMax {
		return nil, 0, wasmres.ErrTooLarge
	}
	return head, int64(len(head)), err
}

// stream makes a content of n bytes of a file.
func stream(f file, start, n int64) (wasmres.Content, error) {
	_, err := f.Seek(start, io.SeekStart)
	return wasmres.Stream(part{io.LimitReader(f, n), f}, n), err
}

// A part is some bytes of a file.
type part struct {
	io.Reader
	io.Closer
}

// look gives the MIME type of a file by its name, its first bytes and the rest, and says whether it is a text: UTF-8
// without zeros. The rest is read only of what may be one.
func look(path string, head []byte, rest io.Reader, size int64) (mime string, text bool, err error) {
	mime = typeOf(path, head)
	if size <= textMax && !isBinary(mime) {
		text, err = isText(io.MultiReader(bytes.NewReader(head), rest))
	}
	switch {
	case mime != "": // also of a text in another encoding, which is bytes
	case text:
		mime = "text/plain"
	default:
		mime = "application/octet-stream"
	}
	return mime, text, err
}

// isText reports whether all of r is UTF-8 without zeros. Of what is not, it reads no more than it must.
func isText(r io.Reader) (bool, error) {
	buf := make([]byte, 64<<10)
	kept := 0 // bytes of a character whose rest is still to come
	for {
		n, err := r.Read(buf[kept:])
		if err != nil && err != io.EOF {
			return false, err
		}
		b := buf[:kept+n]
		whole := len(b)
		if err == nil {
			whole -= unfinished(b)
		}
		if !utf8.Valid(b[:whole]) || bytes.IndexByte(b, 0) >= 0 {
			return false, nil
		}
		if err == io.EOF {
			return true, nil
		}
		kept = copy(buf, b[whole:])
	}
}

// unfinished gives how many bytes at the end of b begin a character that is not complete.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
