package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// PID returns the number of a session's process.
func PID(s database.Session) int { return s.(*helper).process.ID() }

// Ended is closed when a session's process has ended.
func Ended(s database.Session) <-chan struct{} { return s.(*helper).process.Done() }

// StartAs makes a driver start another program instead of the running one.
func StartAs(d *Driver, program string) { d.program = program }

// The kinds of frames from helpers.
const (
	KindReady  = byte(kindReady)
	KindAnswer = byte(kindAnswer)
	KindFailed = byte(kindFailed)
)

// Limits of frames.
const (
	MaxAnswer   = maxAnswer
	ChildMemory = childMemory
)

// Frame makes a frame.
func Frame(k byte, number uint64, payload []byte) []byte {
	return sealFrame(append(openFrame(nil, kind(k), number), payload...))
}

// Request reads the number of the next request.
func Request(r *bufio.Reader) (uint64, error) {
	f, err := readFrame(r, nil, maxRequest)
	return f.number, err
}

// Answer makes the payload of an answer.
func Answer(more bool, columns []abi.SQLColumn, values ...abi.SQLValue) []byte {
	b := []byte{0}
	if more {
		b[0] = 1
	}
	b = appendColumns(b, columns)
	for i := range values {
		b = appendValue(b, &values[i])
	}
	return b
}

// Parse reads a frame with an answer and gives its content.
func Parse(text []byte) (more bool, columns []abi.SQLColumn, values []abi.SQLValue, err error) {
	f, err := readFrame(bufio.NewReader(bytes.NewReader(text)), nil, maxAnswer)
	if err != nil {
		return false, nil, nil, err
	}
	more, columns, rows, err := takeAnswer(f.payload, maxColumns)
	for err == nil && len(rows) > 0 {
		var v abi.SQLValue
		rows, err = takeValue(rows, &v)
		values = append(values, v)
	}
	return more, columns, values, err
}

// A StartLimit is that of a driver.
type StartLimit struct{ startLimit startLimit }

// Count counts a failed helper.
func (p *StartLimit) Count() { p.startLimit.count() }

// Wait waits until a helper may be started.
func (p *StartLimit) Wait(ctx context.Context) error { return p.startLimit.wait(ctx) }

// A Here is a session in this process.
type Here struct {
	session *session
	row     []byte
}

// OpenHere opens a session in this process.
func OpenHere(path string, l database.Limits) (*Here, error) {
	s, err := openSession(path, l)
	return &Here{session: s}, err
}

// All runs a statement and gives the bytes of its rows.
func (h *Here) All(query string, args ...abi.SQLValue) ([]byte, error) {
	_, err := h.session.query(&database.Statement{Query: query, Args: args, Timeout: time.Minute})
	for h.row = h.row[:0]; err == nil; {
		var b []byte
		if b, err = h.session.appendRow(h.row); err == nil {
			h.row = b
		}
	}
	h.session.reset()
	return h.row, err
}

// Close closes the session.
func (h *Here) Close() { h.session.close() }
