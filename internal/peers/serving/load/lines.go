package load

import "bytes"

// edge is how much of a line's beginning and end is kept: the id is in one of them.
const edge = 128

// A line is taken in parts, of which only the edges are kept.
type line struct {
	head, tail []byte // up to edge bytes each
	length     int64
}

func newLine() *line {
	return &line{head: make([]byte, 0, edge), tail: make([]byte, 0, 2*edge)}
}

func (l *line) reset() { l.head, l.tail, l.length = l.head[:0], l.tail[:0], 0 }

func (l *line) add(part []byte) {
	l.length += int64(len(part))
	if room := edge - len(l.head); room > 0 {
		l.head = append(l.head, part[:min(room, len(part))]...)
	}
	part = part[max(0, len(part)-edge):]
	if over := len(l.tail) + len(part) - edge; over > 0 {
		l.tail = l.tail[:copy(l.tail, l.tail[over:])]
	}
	l.tail = append(l.tail, part...)
}

// id gives the id of the response, or 0 for what is none, as a notification.
func (l *line) id() uint64 {
	if id := findID(l.head); id != 0 {
		return id
	}
	return findID(l.tail)
}

var idName = []byte(`"id":`)

// findID gives the number behind the last "id": that is one of ours.
func findID(b []byte) (id uint64) {
	at := bytes.LastIndex(b, idName)
	if at < 0 {
		return 0
	}
	for _, c := range bytes.TrimLeft(b[at+len(idName):], " ") {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	if id < idBase {
		return 0
	}
	return id
}
