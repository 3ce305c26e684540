package wasmres

import (
	"errors"
	"io"
	"io/fs"
	"strconv"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
)

const (
	folderFiles   = 100     // files of a folder that are answered when nothing is said
	folderBytes   = 1 << 20 // their bytes together
	folderEntries = 10_000  // entries of a folder that are looked at
)

// FolderOptions bound what [Directory.Folder] answers. The zero value stands for 100 files that have 1 MiB together.
type FolderOptions struct {
	MaxFiles int   // 0 means 100
	MaxBytes int64 // of all files together; 0 means 1 MiB
	Hidden   bool  // whether files are answered whose names begin with a dot

	// MIME gives the type of a file by its name and its first bytes, 1 KiB at most. text says whether the whole file is
	// UTF-8 without zeros. Without MIME, and where it gives nothing, that is text/plain or application/octet-stream.
	MIME func(name string, head []byte, text bool) string
}

// Folder answers a read with the files of a folder of d, each as a content of its own, in the order of their names. name
// is "." for d itself. The URI of a file is uriPrefix and its path in d, percent-encoded. Folders in it are passed over.
//
//	wasmres.Template("notes:///{+path}/", func(r *wasmres.Request) (wasmres.Content, error) {
//		return wasmres.Dir("/notes").Folder(r.Var("path"), "notes:///", wasmres.FolderOptions{})
//	})
//
// A file is text when it is UTF-8 without zeros, unless its type is one of audio, fonts, images (SVG aside), videos,
// application/gzip, application/pdf, application/wasm or application/zip. It is in memory only while it is sent. Its etag
// is made of its time of change and its size.
//
// Left out are files beyond the bounds, which others after them may keep; those that are gone, or may not be read, when
// their turn has come; and names that no URI can have. Then, and if there are no files, one more content comes last, with
// the URI that was asked for. Its text says how many files are left out, and its _meta, as the member folder, why:
//
//	{"files":1,"bytes":5,"leftOut":{"files":2,"bytes":2097160,"names":["a.txt", "big.bin"],
//	"reasons":{"maxBytes":1,"gone":1}}}
//
// There are no more than ten names. The reasons are maxFiles, maxBytes, gone, denied and name. At most 10,000 entries of a
// folder are looked at: leftOut says "more":true where there are others.
func (d Directory) Folder(name, uriPrefix string, o FolderOptions) (Content, error) {
	f := &folder{list: folderList{dir: d, name: name, hidden: o.Hidden}, prefix: uriPrefix, FolderOptions: o}
	if f.MaxFiles <= 0 {
		f.MaxFiles = folderFiles
	}
	if f.MaxBytes <= 0 {
		f.MaxBytes = folderBytes
	}
	return Content{reader: f}, f.list.fetch()
}

// FolderVersion gives an etag of a folder of d, for [Route.Watch]: it changes when a file comes, goes, or has another
// size or time of change. Of the options, Hidden counts.
func (d Directory) FolderVersion(name string, o FolderOptions) (string, error) {
	list := folderList{dir: d, name: name, hidden: o.Hidden}
	if err := list.fetch(); err != nil {
		return "", err
	}
	sum := uint64(14695981039346656037) // FNV-1a
	add := func(c byte) { sum = (sum ^ uint64(c)) * 1099511628211 }
	for {
		e, err := list.next()
		if err != nil {
			return "", err
		}
		if e == nil {
			return strconv.FormatUint(sum, 36), nil
		}
		for i := range len(e.name) {
			add(e.name[i])
		}
		for shift := 0; shift < 64; shift += 8 {
			add(byte(e.size >> shift))
			add(byte(e.modified >> shift))
		}
	}
}

// A folderList gives the files of a folder one by one, in the order of their names.
type folderList struct {
	dir    Directory
	name   string
	hidden bool
	page   []fs.DirEntry // that were fetched and not given yet
	last   string        // name that was fetched last
	more   bool          // there are entries after it
	seen   int           // entries that were looked at
}

// fetch gets the next page.
func (l *folderList) fetch() (err error) {
	l.page, l.more, err = l.dir.list(l.name, l.last, 0)
	if len(l.page) == 0 {
		return err
	}
	last := l.page[len(l.page)-1].Name()
	if last <= l.last {
		return &fs.PathError{Op: "readdir", Path: l.name, Err: ErrInternal} // it would go on for ever
	}
	l.last = last
	return err
}

// next gives the next file; nil when there is none. Then, more says that others were not looked at.
func (l *folderList) next() (*fileEntry, error) {
	for {
		if len(l.page) == 0 && l.more && l.seen < folderEntries {
			if err := l.fetch(); err != nil {
				return nil, err
			}
		}
		if len(l.page) == 0 {
			return nil, nil
		}
		if l.seen++; l.seen > folderEntries {
			l.page, l.more = nil, true
			return nil, nil
		}
		e := l.page[0].(*fileEntry)
		l.page = l.page[1:]
		if !e.dir && e.name != "" && (l.hidden || e.name[0] != '.') {
			return e, nil
		}
	}
}

// A folder is sent as the contents of its files.
type folder struct {
	list   folderList
	prefix string
	FolderOptions

	files int
	bytes int64
	left  leftOut
	data  []byte // of one file at a time
}

// Read implements [several]: a folder has no bytes of its own.
func (f *folder) Read([]byte) (int, error) { return 0, io.EOF }

func (f *folder) send(o *out, r *Request, route *Route) error {
	for {
		e, err := f.list.next()
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if err := f.sendFile(e, o, r, route); err != nil {
			return err
		}
	}
	f.left.more = f.list.more
	if f.files > 0 && f.left.files == 0 && !f.left.more {
		return nil
	}
	own := Text(f.left.String()).MIME("text/plain").Meta(f.meta())
	return o.put(&own, r, route)
}

// sendFile sends a file, or notes that it is left out.
func (f *folder) sendFile(e *fileEntry, o *out, r *Request, route *Route) error {
	path := e.name
	if f.list.name != "." {
		path = f.list.name + "/" + e.name
	}
	switch {
	case !isWritable(path):
		f.left.add(leftName, e)
		return nil
	case f.files >= f.MaxFiles:
		f.left.add(leftMaxFiles, e)
		return nil
	case e.size > f.MaxBytes-f.bytes:
		f.left.add(leftMaxBytes, e)
		return nil
	}
	uri := f.prefix + escapePath(path)
	if len(uri) > uriMax {
		f.left.add(leftName, e)
		return nil
	}
	now, err := f.read(path)
	if err != nil {
		return f.left.addFailed(e, err)
	}
	f.files++
	f.bytes += int64(len(f.data))
	c := f.content(e.name).URI(uri).ETag(now.etag()).LastModified(now.ModTime())
	return o.put(&c, r, route)
}

var errFolderFull = errors.New("the file has more bytes than may be answered")

// read fills f.data with a file, and says what the host knows of it now.
func (f *folder) read(path string) (e *fileEntry, err error) {
	f.data = f.data[:0]
	room := f.MaxBytes - f.bytes
	for {
		have := len(f.data)
		want := int(min(readMax, room-int64(have)+1))
		e, err := f.list.dir.askOne(serviceFileRead, "read", path, fileRequest{offset: uint64(have), length: uint64(want)})
		if err != nil {
			return nil, err
		}
		if cap(f.data)-have < want {
			f.data = append(f.data, make([]byte, want)...)
		}
		n := int(host.Take(channelBody, f.data[have:have+want], 0))
		f.data = f.data[:have+n]
		switch {
		case int64(have+n) > room:
			return nil, errFolderFull
		case n == 0, e.size > 0 && int64(have+n) >= e.size:
			return e, nil
		}
	}
}

// content makes a content of f.data, which is one file.
func (f *folder) content(name string) Content {
	const head = 1 << 10
	text, mime := isText(f.data), ""
	if f.MIME != nil {
		mime = f.MIME(name, f.data[:min(head, len(f.data))], text)
	}
	c := Bytes(f.data)
	switch {
	case mime != "":
		c.mime = mime
	case text:
		c.mime = "text/plain"
	default:
		c.mime = "application/octet-stream"
	}
	if text && !isBinaryType(mime) {
		c = c.AsText()
	}
	return c
}

// etag names a version of a file by its time of change and its size.
func (e *fileEntry) etag() string {
	return strconv.FormatInt(e.modified, 36) + "-" + strconv.FormatInt(e.size, 36)
}
