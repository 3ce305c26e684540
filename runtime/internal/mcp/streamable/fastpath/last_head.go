package fastpath

import "bytes"

// maxLastHead is the longest head that a connection remembers, in bytes: idle connections have it, too.
const maxLastHead = 1 << 10

// A lastHead is the head of the last plain request on a connection. Most clients send the same head again and again, which then is
// not parsed. The zero lastHead is none.
type lastHead struct {
	text []byte // empty for none
	head head   // parsed, with parts of text
}

// begins gives the head of the last request if b begins with the very same bytes. The head is valid until the next call of parse.
func (l *lastHead) begins(b []byte) (h head, ok bool) {
	if len(l.text) == 0 || !bytes.HasPrefix(b, l.text) {
		return head{}, false
	}
	return l.head, true
}

// parse is parseHead, and remembers the head of a plain request without a credential: the time that begins takes would tell a client
// behind the same proxy how many bytes it has guessed of one. The identifier of a session is no credential. The head is valid until the
// next call of parse.
func (l *lastHead) parse(b []byte) head {
	if len(b) > maxLastHead {
		*l = lastHead{}
		return parseHead(b)
	}
	l.text = append(l.text[:0], b...) // b becomes the body of the request, and then the next one
	h := parseHead(l.text)
	if l.head = h; !h.plain || h.authorization != nil {
		l.text, l.head = l.text[:0], head{}
	}
	return h
}
