// Package accesslog writes one line for each request of a client: to a file, which it rotates, or to any other stream.
//
// A [Log] has one goroutine that writes. Requests only append to a bounded buffer: a full disk, or a stream that blocks,
// delays no request. Lines for which the buffer has no room are dropped, counted, and the count is logged.
package accesslog

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/printable"
)

// An Entry is one request. Texts that are empty are left out of its line.
type Entry struct {
	Time      time.Time     // when it began
	Tenant    string        // of a server with several
	Client    string        // address
	Principal string        // name of an authenticated client
	Session   string        // id, for revisions that have sessions; a line has its beginning, since a reader of the log could use the id
	Method    string        // of MCP; "download" for a GET of a resource; that of HTTP if the request was refused unread
	URI       string        // of the resource or template
	More      int           // how many other URIs a subscription names
	Code      string        // "ok", a code of package abi, or a number of JSON-RPC or HTTP
	Bytes     int64         // of the answer, before compression
	Duration  time.Duration // until the answer was made; the last part of it was not sent then
}

// A Format is how lines look.
type Format int

// The formats.
const (
	Text Format = iota // key=value, as slog writes it
	JSON               // one object on each line
)

const (
	maxText      = 2 << 10               // bytes of one text in a line, about
	sessionShown = 8                     // characters of a session's id in a line
	timeFormat   = "2006-01-02T15:04:05" // to the second, in UTC
)

// A formatter makes lines. It formats each second once.
type formatter struct {
	format Format
	second int64  // since 1970, of text
	text   []byte // as timeFormat has it; nil before the first line
}

// appendLine appends e and a line end.
func (f *formatter) appendLine(b []byte, e *Entry) []byte {
	l := line{b: b, json: f.format == JSON}
	l.begin(f.secondOf(e.Time), e.Time.Nanosecond()/1e6)
	l.text("tenant", e.Tenant)
	l.text("client", e.Client)
	l.text("principal", e.Principal)
	l.text("session", ShownSession(e.Session))
	l.text("method", e.Method)
	l.text("uri", e.URI)
	if e.More > 0 {
		l.key("more")
		l.b = strconv.AppendInt(l.b, int64(e.More), 10)
	}
	l.text("code", e.Code)
	l.key("bytes")
	l.b = strconv.AppendInt(l.b, e.Bytes, 10)
	l.key("ms")
	l.b = appendThousandths(strconv.AppendInt(l.b, e.Duration.Milliseconds(), 10), int(e.Duration.Microseconds()%1000))
	return l.end()
}

// ShownSession returns the beginning of the id of a session, which is of no use as a credential, as lines have it.
func ShownSession(id string) string { return id[:min(len(id), sessionShown)] }

// secondOf returns a time to the second.
func (f *formatter) secondOf(t time.Time) []byte {
	if s := t.Unix(); f.text == nil || s != f.second {
		f.second, f.text = s, t.UTC().AppendFormat(f.text[:0], timeFormat)
	}
	return f.text
}

// appendThousandths appends a point and three digits.
func appendThousandths(b []byte, n int) []byte {
	return append(b, '.', byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
}

// A line is being made.
type line struct {
	b    []byte
	json bool
}

func (l *line) begin(second []byte, millis int) {
	if l.json {
		l.b = append(l.b, `{"time":"`...)
	} else {
		l.b = append(l.b, "time="...)
	}
	l.b = append(appendThousandths(append(l.b, second...), millis), 'Z')
	if l.json {
		l.b = append(l.b, '"')
	}
}

func (l *line) end() []byte {
	if l.json {
		l.b = append(l.b, '}')
	}
	return append(l.b, '\n')
}

func (l *line) key(name string) {
	if l.json {
		l.b = append(l.b, `,"`...)
		l.b = append(l.b, name...)
		l.b = append(l.b, `":`...)
		return
	}
	l.b = append(l.b, ' ')
	l.b = append(l.b, name...)
	l.b = append(l.b, '=')
}

func (l *line) text(name, value string) {
	if value == "" {
		return
	}
	l.key(name)
	if !l.json && isWord(value) {
		l.b = append(l.b, value...)
		return
	}
	l.quoted(value)
}

// isWord reports whether a text needs no quotes, and no escapes: then it cannot be taken for another key, or line.
func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' || c == '=' {
			return false
		}
	}
	return len(s) <= maxText
}

// quoted appends a text in quotes, with JSON escapes for whatever is hidden from a reader or steers a terminal. Bytes that
// are not UTF-8 become U+FFFD. A long text is cut.
func (l *line) quoted(s string) {
	cut := len(s) > maxText
	if cut {
		s = s[:maxText]
	}
	l.b = append(l.b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			l.b = append(l.b, '\\', byte(r))
		case r >= ' ' && r < 0x7f || r >= utf8.RuneSelf && !printable.Hidden(r):
			l.b = utf8.AppendRune(l.b, r)
		default:
			l.escape(r)
		}
	}
	if cut {
		l.b = append(l.b, "…"...)
	}
	l.b = append(l.b, '"')
}

// escape appends a character as one or two UTF-16 units.
func (l *line) escape(r rune) {
	if r > 0xffff {
		r -= 0x10000
		l.unit(0xd800 + r>>10)
		l.unit(0xdc00 + r&0x3ff)
		return
	}
	l.unit(r)
}

func (l *line) unit(r rune) {
	const hex = "0123456789abcdef"
	l.b = append(l.b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
