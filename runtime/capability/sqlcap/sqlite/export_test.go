package sqlite

import (
	"bufio"
	"bytes"
	"context"
	goruntime "runtime"
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

// ErrProtocol is the error of a helper that violates the protocol.
var ErrProtocol = errProtocol

// BoxData is how many bytes a box holds.
const BoxData = boxSize - boxWords

// A Box is a box in the memory of this process.
type Box struct{ *box }

// NewBox makes a box.
func NewBox() *Box { return &Box{boxIn(make([]byte, boxSize))} }

// Look sets how long the helper looks.
func (b *Box) Look(d time.Duration) { b.look.Store(uint32(d.Microseconds())) }

// Ask is that of the parent.
func (b *Box) Ask(request []byte) bool { return b.ask(request) }

// Await is that of the parent.
func (b *Box) Await(d time.Duration) ([]byte, bool, error) { return b.await(time.Now().Add(d), nil) }

// Next is that of the helper.
func (b *Box) Next() ([]byte, bool) { return b.next(nil) }

// Answer is that of the helper.
func (b *Box) Answer(answer []byte) bool { return b.answer(answer) }

// Write sets the state and the size.
func (b *Box) Write(state, size uint32) {
	b.state.Store(state)
	b.size.Store(size)
}

// A Pace is a pace.
type Pace struct{ pace pace }

// Observe is that of a pace.
func (p *Pace) Observe(asked, now time.Time) bool {
	looks := p.pace.observe(asked, now)
	if looks != p.pace.looks {
		p.pace.set(looks)
	}
	return looks
}

// Missed is that of a pace.
func (p *Pace) Missed() { p.pace.missed() }

// Late is that of a pace.
func (p *Pace) Late(now time.Time) { p.pace.late(now) }

// ReleasePaces lets any helper look.
func ReleasePaces() {
	looking.owner.Store(nil)
	looking.rests.Store(0)
	looking.wanted.Store(0)
}

// Look has the helper of a session look at its box, for a long time after each answer. It returns false where there is none.
func Look(s database.Session) bool {
	h := s.(*helper)
	if h.box == nil {
		return false
	}
	h.pace.count, h.pace.answered = startCount, time.Now() // as after requests that came soon
	h.look(true)
	h.box.look.Store(100_000)
	return true
}

// IsBoxed reports whether the box has the last answer of a session whose helper looks.
func IsBoxed(s database.Session) bool { return s.(*helper).box.size.Load() > 0 }

// LieInBox opens the box of this process, a helper, and answers each request in it by a state, a size and data.
func LieInBox(state, size uint32, data []byte) error {
	b, err := openBox()
	if b == nil {
		return err
	}
	go func() {
		for b.state.Store(boxOpen); ; goruntime.Gosched() {
			if b.state.Load() == boxAsked {
				copy(b.data, data)
				b.size.Store(size)
				b.state.Store(state)
			}
		}
	}()
	return nil
}
