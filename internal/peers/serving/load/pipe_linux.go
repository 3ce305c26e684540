package load

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// A Pipe is both ends of a server's stdio, for calls whose answers are looked at. The descriptors stay the caller's.
type Pipe struct {
	w, r     int
	revision Revision
	nextID   uint64
}

// OpenPipe takes what to write the server's standard input to and read its standard output from, and initializes a
// session where the revision has them.
func OpenPipe(w, r int, revision Revision) (*Pipe, error) {
	p := &Pipe{w: w, r: r, revision: revision, nextID: idBase}
	if revision != Sessions {
		return p, nil
	}
	if _, err := p.exchange(initialize, `"id":1`, nil); err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	return p, writeAll(w, []byte(initialized+"\n"))
}

// Call asks and gives the answer's message. The bytes are added to buf, which may be nil.
func (p *Pipe) Call(c Call, buf []byte) ([]byte, error) {
	text, _ := c.message(p.revision)
	return p.exchange(text, `"id":`+firstID, buf)
}

// exchange sends a message and gives the first line that answers it.
func (p *Pipe) exchange(text, id string, buf []byte) ([]byte, error) {
	if err := writeAll(p.w, []byte(text+"\n")); err != nil {
		return nil, err
	}
	in := make([]byte, bufferSize)
	for {
		n, err := syscall.Read(p.r, in)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return nil, fmt.Errorf("the server has closed its standard output: %w", os.NewSyscallError("read", err))
		}
		buf = append(buf, in[:n]...)
		for in[n-1] == '\n' && len(buf) > 0 {
			first, rest, _ := bytes.Cut(buf, []byte("\n"))
			if answers(first, id) {
				return first, nil
			}
			buf = rest
		}
	}
}

func answers(line []byte, id string) bool {
	head, tail := line[:min(edge, len(line))], line[max(0, len(line)-edge):]
	return bytes.Contains(head, []byte(id)) || bytes.Contains(tail, []byte(id))
}
