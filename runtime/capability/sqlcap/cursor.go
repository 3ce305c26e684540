package sqlcap

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

const (
	partSize = 256 << 10 // bytes of rows that leave at once, unless one row has more
	partRows = 10_000    // rows that leave at once
	maxHead  = 64 << 10  // bytes of the description of columns
	maxRow   = 1<<20 - maxHead - 1<<10
)

// A cursor is a statement whose rows are being read.
type cursor struct {
	conn    *connection
	subject string // as observers are told

	mu      sync.Mutex // held while rows are read
	session database.Session
	columns []abi.SQLColumn
	row     []abi.SQLValue
	pending []byte // an encoded row that did not fit the last part
	rows    uint64 // that may still be given
	strict  bool   // further rows are an error, as the operator's limit is; else they are left out, as was asked for
	bytes   uint64 // that rows may still have
	ended   bool   // the session went back
}

// part appends the next rows to b. At the end, and after an error, the cursor is over.
func (c *cursor) part(b []byte) (_ []byte, more bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil, false, abi.Errorf(abi.CodeInvalidParams, "the statement is over")
	}
	b, err = c.fill(b)
	if err == nil {
		return b, true, nil
	}
	c.end()
	if errors.Is(err, io.EOF) {
		return b, false, nil
	}
	return nil, false, err
}

// fill appends rows until a part is full. The end is [io.EOF].
func (c *cursor) fill(b []byte) ([]byte, error) {
	start, rows := len(b), 0
	if len(c.pending) > 0 {
		b, rows = append(b, c.pending...), 1
		c.pending = c.pending[:0]
	}
	for rows < partRows && len(b)-start <= partSize {
		at := len(b)
		var err error
		if b, err = c.next(b); err != nil {
			return b, err
		}
		if rows++; rows > 1 && len(b)-start > partSize {
			c.pending = append(c.pending, b[at:]...)
			return b[:at], nil
		}
	}
	return b, nil
}

// next appends one row.
func (c *cursor) next(b []byte) ([]byte, error) {
	if c.rows == 0 && !c.strict {
		return b, io.EOF
	}
	if err := c.session.Next(c.row); err != nil {
		return b, err
	}
	if c.rows == 0 {
		return b, abi.Errorf(abi.CodeTooLarge, "more rows than the limit, %d", c.conn.limits.Rows)
	}
	c.rows--
	at := len(b)
	b = (&abi.SQLRow{Values: c.row}).Append(b)
	size := len(b) - at
	switch {
	case size > maxRow:
		return b, abi.Errorf(abi.CodeTooLarge, "a row of more than %d bytes", maxRow)
	case uint64(size) > c.bytes:
		return b, abi.Errorf(abi.CodeTooLarge, "rows of more bytes than the limit, %d", c.conn.limits.Bytes)
	}
	c.bytes -= uint64(size)
	return b, nil
}

// end gives the session back. c.mu is held.
func (c *cursor) end() {
	if !c.ended {
		c.ended = true
		c.conn.pool.give(c.session)
		c.session, c.row, c.pending = nil, nil, nil
	}
}

// A desk keeps the cursors of all calls that guests have left open between two services. A call is known by the channel
// that is closed at its end.
type desk struct {
	mu    sync.Mutex
	calls map[<-chan struct{}]*callCursors // guarded by mu, with all that is in it
}

// The cursors of one call have numbers of their own, which tell a guest nothing of other calls.
type callCursors struct {
	last uint64             // the number of the one opened last
	open map[uint64]*cursor // by number
	stop func() bool        // stops waiting for the end of the call
}

func newDesk() *desk { return &desk{calls: map[<-chan struct{}]*callCursors{}} }

// room checks that a call may have one more cursor.
func (d *desk) room(ctx context.Context, most int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.calls[ctx.Done()]; c != nil && len(c.open) >= most {
		return abi.Errorf(abi.CodeInvalidParams, "more than %d statements under way: read one to its end first", most)
	}
	return nil
}

// add gives a cursor its number. It is closed when the call ends.
func (d *desk) add(ctx context.Context, c *cursor) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	call := ctx.Done()
	of := d.calls[call]
	if of == nil {
		of = &callCursors{open: map[uint64]*cursor{}, stop: context.AfterFunc(ctx, func() { d.forget(call) })}
		d.calls[call] = of
	}
	of.last++
	of.open[of.last] = c
	return of.last
}

// find gives a cursor of this call; nil when there is none with the number.
func (d *desk) find(ctx context.Context, id uint64) *cursor {
	d.mu.Lock()
	defer d.mu.Unlock()
	if of := d.calls[ctx.Done()]; of != nil {
		return of.open[id]
	}
	return nil
}

// remove forgets a cursor that has ended.
func (d *desk) remove(ctx context.Context, id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if of := d.calls[ctx.Done()]; of != nil {
		delete(of.open, id)
	}
}

// forget ends the cursors of a call.
func (d *desk) forget(call <-chan struct{}) {
	d.mu.Lock()
	of := d.calls[call]
	delete(d.calls, call)
	d.mu.Unlock()
	if of == nil {
		return
	}
	of.stop()
	for _, c := range of.open {
		c.mu.Lock()
		c.end()
		c.mu.Unlock()
	}
}

// close ends all cursors.
func (d *desk) close() {
	d.mu.Lock()
	all := slices.Collect(maps.Keys(d.calls))
	d.mu.Unlock()
	for _, call := range all {
		d.forget(call)
	}
}
