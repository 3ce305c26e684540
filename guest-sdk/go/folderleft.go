package wasmres

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

const (
	leftNames = 10   // names of files left out that are told
	uriMax    = 2048 // bytes of a URI
)

// Why a file of a folder is left out.
const (
	leftMaxFiles = iota
	leftMaxBytes
	leftGone
	leftDenied
	leftName
	leftReasons
)

var leftWords = [leftReasons]string{"maxFiles", "maxBytes", "gone", "denied", "name"}

// leftOut are the files of a folder that are not answered.
type leftOut struct {
	files   int
	bytes   uint64
	more    bool // there are entries that were not looked at
	named   int
	names   string // the first ones, as JSON strings with commas between them
	reasons [leftReasons]int
}

func (l *leftOut) add(reason int, e *fileEntry) {
	l.files++
	l.bytes += uint64(e.size)
	l.reasons[reason]++
	if reason == leftName || l.named == leftNames { // a name for which there is no URI may have any characters
		return
	}
	if l.named++; l.named > 1 {
		l.names += ", "
	}
	l.names += `"` + strings.ReplaceAll(e.name, `"`, `\"`) + `"`
}

// addFailed leaves a file out that could not be read, if it is the file to which that is due.
func (l *leftOut) addFailed(e *fileEntry, err error) error {
	switch {
	case err == errFolderFull:
		l.add(leftMaxBytes, e)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid): // of the latter, a folder may be there now
		l.add(leftGone, e)
	case errors.Is(err, fs.ErrPermission):
		l.add(leftDenied, e)
	default:
		return err
	}
	return nil
}

// String says what is left out to people and models.
func (l *leftOut) String() string {
	if l.files == 0 && !l.more {
		return "No files."
	}
	s := "Files left out: "
	if l.more {
		s += "more than "
	}
	s += strconv.Itoa(l.files) + " (" + strconv.FormatUint(l.bytes, 10) + " bytes)"
	if l.named > 0 {
		s += ", among them " + l.names
	}
	return s
}

func (l *leftOut) json() string {
	s := `{"files":` + strconv.Itoa(l.files) + `,"bytes":` + strconv.FormatUint(l.bytes, 10)
	if l.more {
		s += `,"more":true`
	}
	s += `,"names":[` + l.names + `],"reasons":{`
	comma := ""
	for i, n := range l.reasons {
		if n > 0 {
			s += comma + `"` + leftWords[i] + `":` + strconv.Itoa(n)
			comma = ","
		}
	}
	return s + "}}"
}

// meta is the _meta of the content of the folder itself.
func (f *folder) meta() string {
	s := `{"folder":{"files":` + strconv.Itoa(f.files) + `,"bytes":` + strconv.FormatInt(f.bytes, 10)
	if f.left.files > 0 || f.left.more {
		s += `,"leftOut":` + f.left.json()
	}
	return s + "}}"
}

// isWritable reports whether the characters of a path can stand in a URI, encoded at least.
func isWritable(path string) bool {
	isBad := func(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 || c == '\\' }
	return utf8.ValidString(path) && !strings.ContainsFunc(path, isBad)
}

// escapePath percent-encodes what must not stand in the path of a URI.
func escapePath(path string) string {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(path)+16)
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b = append(b, c)
		default:
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}

// isText reports whether b is UTF-8 without zeros.
func isText(b []byte) bool {
	s := unsafe.String(unsafe.SliceData(b), len(b)) // only ever read
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// isBinaryType reports whether files of a type are never texts.
func isBinaryType(mime string) bool {
	kind, name, _ := strings.Cut(mime, "/")
	switch kind {
	case "audio", "font", "video":
		return true
	case "image":
		return name != "svg+xml"
	}
	switch mime {
	case "application/gzip", "application/pdf", "application/wasm", "application/zip":
		return true
	}
	return false
}
