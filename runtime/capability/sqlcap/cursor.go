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
	partSize = 256 << 10 // bytes of rows in one part, unless one row has more
	partRows = 10_000    // rows in one part
	maxHead  = 64 << 10  // bytes of the description of columns
	maxRow   = 1<<20 - maxHead - 1<<10
)

// A cursor is a statement whose rows are being read.
type cursor struct {
	conn    *connection
	subject string // for observers

	mu      sync.Mutex // held while rows are read
	session database.Session
	columns []abi.SQLColumn
	row     []abi.SQLValue
	pending []byte // an encoded row that did not fit the last part
	rows    uint64 // that remain within the limit
	strict  bool   // the operator set the limit, and more rows are an error; false: the guest set it, and they are left out
	bytes   uint64 // of rows that remain within the limit
	ended   bool   // the session was released
}

// part appends the next rows to b. At the end, and after an error, the cursor ends.
func (c *cursor) part(b []byte) (_ []byte, more bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil, false, abi.Errorf(abi.CodeInvalidParams, "the statement has ended")
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

// end releases the session. The caller holds c.mu.
func (c *cursor) end() {
	if !c.ended {
		c.ended = true
		c.conn.pool.release(c.session)
		c.session, c.row, c.pending = nil, nil, nil
	}
}

// cursors has the open cursors of each call of a guest. The Done channel of its context identifies the call.
type cursors struct {
	mu    sync.Mutex
	calls map[<-chan struct{}]*callCursors // guarded by mu, with all that is in it
}

// callCursors has the cursors of one call. Their numbers are counted for each call, and show nothing about other calls.
type callCursors struct {
	last uint64             // the number of the newest
	open map[uint64]*cursor // by number
	stop func() bool        // stops waiting for the end of the call
}

func newCursors() *cursors { return &cursors{calls: map[<-chan struct{}]*callCursors{}} }

// checkCount checks that a call may have one more cursor.
func (d *cursors) checkCount(ctx context.Context, most int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.calls) == 0 {
		return nil // Done may set a timer
	}
	if c := d.calls[ctx.Done()]; c != nil && len(c.open) >= most {
		return abi.Errorf(abi.CodeInvalidParams, "more than %d open statements: read one to its end first", most)
	}
	return nil
}

// add numbers a cursor, which ends with the call.
func (d *cursors) add(ctx context.Context, c *cursor) uint64 {
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

// find returns a cursor of this call; nil when it has none with the number.
func (d *cursors) find(ctx context.Context, id uint64) *cursor {
	d.mu.Lock()
	defer d.mu.Unlock()
	if of := d.calls[ctx.Done()]; of != nil {
		return of.open[id]
	}
	return nil
}

// remove removes a cursor that has ended.
func (d *cursors) remove(ctx context.Context, id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if of := d.calls[ctx.Done()]; of != nil {
		delete(of.open, id)
	}
}

// forget ends the cursors of a call.
func (d *cursors) forget(call <-chan struct{}) {
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
func (d *cursors) close() {
	d.mu.Lock()
	all := slices.Collect(maps.Keys(d.calls))
	d.mu.Unlock()
	for _, call := range all {
		d.forget(call)
	}
}
