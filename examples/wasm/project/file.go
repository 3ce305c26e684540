package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// wholeMax is how large a file is read at once; larger ones are streamed.
const wholeMax = 256 << 10

// sizelessMax is how many bytes a file may have whose size is told as 0, as that of files of /proc is.
const sizelessMax = 16 << 20

// check refuses names that lead out of the project and those that begin with a dot. The host has refused the former
// already; a provider that holds files does not rely on it.
func check(name string) error {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		return wasmres.Invalid("not a path inside the project: " + strconv.Quote(name))
	}
	for element := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(element, ".") {
			return wasmres.NotFound("no file " + strconv.Quote(name) + " in the project")
		}
	}
	return nil
}

// explain words what went wrong with a file for the client.
func explain(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wasmres.NotFound("no file " + strconv.Quote(name) + " in the project")
	case errors.Is(err, fs.ErrPermission):
		return wasmres.Denied(strconv.Quote(name) + " may not be read: has the project's folder been granted, as with --dir FOLDER:" + root + "?")
	}
	return err
}

// openFile opens a file that is none but a file.
func openFile(name string) (fs.File, fs.FileInfo, error) {
	f, err := project.Open(name)
	if err != nil {
		return nil, nil, explain(name, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errFolder
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// open answers with a file: as text if all of it is, else as bytes.
func open(name string) (wasmres.Content, error) {
	f, info, err := openFile(name)
	if err != nil {
		return wasmres.Content{}, err
	}
	var c wasmres.Content
	var isText bool
	if info.Size() <= wholeMax {
		c, isText, err = whole(f)
	} else {
		c, isText, err = streamed(f, info.Size())
	}
	if err != nil {
		return wasmres.Content{}, err
	}
	return c.MIME(mimeOf(name, isText)).ETag(etag(info)).LastModified(info.ModTime()), nil
}

// whole answers with a small file and closes it.
func whole(f fs.File) (c wasmres.Content, isText bool, err error) {
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, sizelessMax+1)) // of a size that is told as 0, there may be any number of bytes
	if len(b) > sizelessMax {
		return c, false, wasmres.ErrTooLarge
	}
	if isText = textual(b); isText {
		return wasmres.Text(string(b)), true, err
	}
	return wasmres.Bytes(b), false, err
}

// streamed answers with a file that is not held in memory: it is read once to see whether it is text, and again to be
// sent.
func streamed(f fs.File, size int64) (c wasmres.Content, isText bool, err error) {
	if isText, err = textualStream(f); err == nil {
		_, err = f.(io.Seeker).Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return c, false, err
	}
	c = wasmres.Stream(f, size)
	if isText {
		c = c.AsText()
	}
	return c, isText, nil
}

func textual(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// textualStream is textual for what does not fit into memory.
func textualStream(r io.Reader) (bool, error) {
	buf := make([]byte, 64<<10)
	kept := 0 // bytes of a character whose rest is still to come
	for {
		n, err := r.Read(buf[kept:])
		b := buf[:kept+n]
		if err == io.EOF {
			return textual(b), nil
		}
		if err != nil {
			return false, err
		}
		cut := len(b) - unfinished(b)
		if !textual(b[:cut]) {
			return false, nil
		}
		kept = copy(buf, b[cut:])
	}
}

// unfinished gives how many bytes at the end of b begin a character that is not complete.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// stats answers with numbers about a file, as JSON.
func stats(variable string) func(*wasmres.Request) (string, error) {
	return func(r *wasmres.Request) (string, error) {
		name := r.Var(variable)
		if err := check(name); err != nil {
			return "", err
		}
		f, info, err := openFile(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		n, err := count(r, f)
		if err != nil {
			return "", err
		}
		return `{"lines":` + strconv.FormatInt(n.lines, 10) +
			`,"words":` + strconv.FormatInt(n.words, 10) +
			`,"bytes":` + strconv.FormatInt(n.bytes, 10) +
			`,"modified":"` + info.ModTime().UTC().Format(time.RFC3339) + `"}`, nil
	}
}

type numbers struct{ lines, words, bytes int64 }

// count counts as wc does, but that a last line needs no newline.
func count(r *wasmres.Request, f io.Reader) (n numbers, err error) {
	buf := make([]byte, 64<<10)
	inWord, last := false, byte('\n')
	for err == nil {
		if err := r.Err(); err != nil {
			return n, err
		}
		var k int
		k, err = f.Read(buf)
		b := buf[:k]
		n.bytes += int64(k)
		n.lines += int64(bytes.Count(b, []byte{'\n'}))
		for _, c := range b {
			isSpace := c == ' ' || c >= '\t' && c <= '\r'
			if inWord && isSpace || !inWord && !isSpace {
				inWord = !inWord
				if inWord {
					n.words++
				}
			}
		}
		if k > 0 {
			last = b[k-1]
		}
	}
	if last != '\n' {
		n.lines++
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}
