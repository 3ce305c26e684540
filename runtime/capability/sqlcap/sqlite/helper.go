package sqlite

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/process"
)

const (
	maxStderr = 8 << 10                // bytes of standard error that are recorded, as of a crash of Go
	overtime  = 50 * time.Millisecond  // for a helper to end a statement by itself after its timeout
	resetTime = 100 * time.Millisecond // for a helper to read a short request
	endTime   = 100 * time.Millisecond // to wait for the exit of a killed helper, which has the cause
)

// A helper is a [database.Session] in its own process, which it kills when the process does not answer in time. It
// belongs to one goroutine at a time.
type helper struct {
	driver  *Driver
	process *process.Process
	stream  *stream
	in      *bufio.Reader // of stream
	box     *box          // nil where frames take the pipes alone
	pace    pace          // of the box

	opened bool   // the database is open: what follows may be quick
	number uint64 // of the last request
	out    []byte // memory for frames that are written
	frame  []byte // memory for frames that are read

	ctx   context.Context // of the statement
	until time.Time       // when the helper must have ended the statement
	watch *deadline.Watch // ends it at until
	rows  []byte          // of the last answer, not read yet, in the memory of frame
	more  bool            // the helper has more rows
	lost  error           // the error of a helper that has ended; nil before
}

// ends are the standard input and output of a helper, and the memory of its box, if it has one.
type ends struct {
	in, out *os.File
	files   []*os.File
}

func (e ends) close() {
	for _, f := range append(e.files, e.in, e.out) {
		_ = f.Close() // which does nothing for nil
	}
}

// start starts a helper, which waits for its first request.
func (d *Driver) start() (_ *helper, err error) {
	h := &helper{driver: d}
	ours, theirs, err := newStream()
	if err != nil {
		return nil, err
	}
	defer theirs.close()
	h.stream, h.in, h.box = ours, bufio.NewReaderSize(ours, 16<<10), ours.box
	h.process, err = process.Start(process.Config{
		Executable: d.program, Name: childName, Stdin: theirs.in, Stdout: theirs.out, Files: theirs.files, MaxStderr: maxStderr,
		Namespaces: true, Logger: d.cfg.Logger,
	})
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	h.watch = deadline.NewWatch(h.end)
	if err := d.track(h); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// open opens the database in the helper.
func (h *helper) open(ctx context.Context) error {
	text, err := json.Marshal(openRequest{Path: h.driver.path, Limits: h.driver.cfg.Limits})
	if err != nil {
		return err
	}
	h.ctx = ctx
	h.until = time.Now().Add(openTime)
	payload, err := h.ask(kindReady, append(h.request(kindOpen), text...))
	if err != nil {
		return err
	}
	h.opened = true
	h.driver.cfg.Logger.Debug("sqlite helper started", "pid", h.process.ID(), "layers", string(payload[:min(len(payload), 1<<10)]))
	return nil
}

// openTime bounds the time until a helper is ready.
const openTime = 10 * time.Second

// Query implements [database.Session].
func (h *helper) Query(ctx context.Context, s *database.Statement) ([]abi.SQLColumn, error) {
	if h.lost != nil {
		return nil, h.lost
	}
	select {
	case <-h.process.Done():
		h.lost = database.ErrLost
		return nil, h.lost
	default:
	}
	h.ctx, h.until = ctx, time.Now().Add(s.Timeout+overtime)
	b := binary.LittleEndian.AppendUint64(h.request(kindQuery), uint64(s.Timeout))
	b = (&abi.SQLRequest{Query: s.Query, Args: s.Args, MaxRows: s.Rows}).Append(b)
	if len(b)-headSize > maxRequest {
		return nil, abi.Errorf(abi.CodeTooLarge, "the statement and its values have more than %d bytes", maxRequest)
	}
	payload, err := h.ask(kindAnswer, b)
	if err != nil {
		return nil, err
	}
	var columns []abi.SQLColumn
	if h.more, columns, h.rows, err = takeAnswer(payload, maxColumns); err == nil && len(columns) == 0 {
		err = violation("a statement without columns")
	}
	return columns, h.check(err)
}

// maxColumns is the most columns of SQLite.
const maxColumns = 2000

// Next implements [database.Session].
func (h *helper) Next(row []abi.SQLValue) error {
	if h.lost != nil {
		return h.lost
	}
	if len(h.rows) == 0 && h.more {
		if err := h.fetch(); err != nil {
			return err
		}
	}
	if len(h.rows) == 0 {
		return io.EOF
	}
	return h.check(h.take(row))
}

// fetch requests the next rows.
func (h *helper) fetch() error {
	payload, err := h.ask(kindAnswer, h.request(kindMore))
	if err != nil {
		return err
	}
	h.more, _, h.rows, err = takeAnswer(payload, 0)
	if err == nil && h.more && len(h.rows) == 0 {
		err = violation("no rows, but more to come")
	}
	return h.check(err)
}

// take takes one row of the last answer.
func (h *helper) take(row []abi.SQLValue) (err error) {
	for i := range row {
		v := &row[i]
		if h.rows, err = takeValue(h.rows, v); err != nil {
			return err
		}
		if max(len(v.Text), len(v.Bytes)) > h.driver.cfg.Limits.Cell {
			return violation("a value of more than %d bytes", h.driver.cfg.Limits.Cell)
		}
	}
	return nil
}

// request begins the frame of the next request.
func (h *helper) request(k kind) []byte {
	h.number++
	h.out = openFrame(h.out, k, h.number)
	return h.out
}

// ask sends a request, waits for its answer of kind want, and gives the payload, which is valid until the next request. It
// kills the helper when the call ends, or when the answer takes too long.
func (h *helper) ask(want kind, request []byte) ([]byte, error) {
	h.out = sealFrame(request)
	if err := h.ctx.Err(); err != nil {
		return nil, err // nothing was sent
	}
	h.rows, h.more = nil, false
	stop := afterCancel(h.ctx, h.end)
	h.watch.Start(h.until)
	f, err := h.exchange()
	if inTime, goesOn := h.watch.Stop(), stop(); !inTime || !goesOn {
		return nil, h.overdue()
	}
	switch {
	case err != nil:
		return nil, h.check(err)
	case f.number != h.number:
		return nil, h.check(violation("the answer to request %d has the number %d", h.number, f.number))
	case f.kind == kindFailed:
		return nil, h.failed(f.payload)
	case f.kind != want:
		return nil, h.check(violation("an answer of kind %d in place of kind %d", f.kind, want))
	}
	return f.payload, nil
}

// afterCancel is [context.AfterFunc], which may leave out the deadline: that of the statement comes first.
func afterCancel(ctx context.Context, call func()) (stop func() bool) {
	if d, ok := ctx.(*deadline.Context); ok {
		return d.AfterCancel(call)
	}
	return context.AfterFunc(ctx, call)
}

// end kills the helper, and ends reads and writes at once: the process may take a while to exit. It is safe for concurrent
// use.
func (h *helper) end() {
	h.process.Kill()
	h.stream.interrupt()
}

// exchange passes the request to the helper, and gives the answer.
func (h *helper) exchange() (frame, error) {
	if h.box == nil || !h.opened {
		return h.exchangeByPipe()
	}
	asked := time.Now()
	f, err := h.exchangeQuickly(asked)
	if looks := h.pace.observe(asked, time.Now()); looks != h.pace.looks {
		h.look(looks)
	}
	return f, err
}

// exchangeQuickly uses the box while the helper looks at it.
func (h *helper) exchangeQuickly(asked time.Time) (frame, error) {
	if !h.pace.looks {
		return h.exchangeByPipe()
	}
	if !h.box.ask(h.out) {
		if !h.pace.fresh {
			h.missed()
		}
		return h.exchangeByPipe()
	}
	answer, come, err := h.box.await(asked.Add(awaitTime), h.frame)
	switch {
	case err != nil:
		return frame{}, err
	case !come:
		h.pace.late(time.Now())
		h.box.look.Store(0)
		return h.readAnswer()
	}
	h.frame = answer[:0]
	return parseFrame(answer, maxAnswer)
}

// look has the helper look at its box after each answer, or no longer.
func (h *helper) look(looks bool) {
	if h.pace.set(looks); !looks {
		h.box.look.Store(0)
		h.box.shut()
		return
	}
	h.stream.part(h.process)
	h.box.look.Store(uint32(lookTime.Microseconds()))
}

// missed ends looking for a while: the helper has looked in vain.
func (h *helper) missed() {
	h.pace.missed()
	h.box.look.Store(0)
}

// exchangeByPipe writes the request and reads the answer.
func (h *helper) exchangeByPipe() (frame, error) {
	if h.opened && !h.pace.looks {
		h.stream.lend(h.process)
		defer h.stream.takeBack()
	}
	if _, err := h.stream.Write(h.out); err != nil {
		return frame{}, err
	}
	return h.readAnswer()
}

func (h *helper) readAnswer() (frame, error) {
	f, err := readFrame(h.in, h.frame, maxAnswer)
	if cap(f.payload) > cap(h.frame) {
		h.frame = f.payload[:0]
	}
	return f, err
}

// overdue returns the reason for killing the helper: the call has ended, or the statement took too long.
func (h *helper) overdue() error {
	h.lose()
	if h.lost = h.ctx.Err(); h.lost == nil {
		h.lost = abi.Errorf(abi.CodeDeadline, "the statement took too long")
	}
	return h.lost
}

// lose kills the helper, and counts it as failed.
func (h *helper) lose() {
	h.process.Kill()
	h.driver.startLimit.count()
}

// check ends a helper that has exited, or has violated the protocol. It does nothing when err is nil.
func (h *helper) check(err error) error {
	if err == nil {
		return nil
	}
	h.lose()
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	select {
	case <-h.process.Done():
		h.lost = h.explain(err, h.process.End())
	case <-timer.C:
		h.lost = abi.Errorf(abi.CodeUnavailable, "the database process has failed").Because(err)
	}
	return h.lost
}

// explain returns the error for the exit of a helper, and logs it.
func (h *helper) explain(err error, end process.End) error {
	h.driver.cfg.Logger.Warn("sqlite helper ended", "err", err, "end", end.String(), "stderr", end.Stderr)
	if strings.Contains(end.Stderr, "out of memory") || strings.Contains(end.Stderr, "stack exceeds") || strings.Contains(end.Stderr, "cannot allocate") {
		return abi.Errorf(abi.CodeTooLarge, "the statement uses too much memory").Because(err)
	}
	return abi.Errorf(abi.CodeUnavailable, "the database process has failed").Because(fmt.Errorf("%w (%v)", err, end))
}

// failed returns the error with which the helper answered.
func (h *helper) failed(payload []byte) error {
	var f failure
	if err := json.Unmarshal(payload, &f); err != nil || f.Code == abi.CodeOK || abi.FromGuest(uint32(f.Code)) != f.Code {
		return h.check(violation("a malformed failure"))
	}
	const most = 500
	err := error(abi.Errorf(f.Code, "%s", truncate(f.Message, most)).Because(errors.New(truncate(f.Cause, most))))
	if f.Reopen {
		h.lose()
		h.lost = fmt.Errorf("%w: %w", database.ErrLost, err)
		return h.lost
	}
	return err
}

func truncate(s string, most int) string {
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Reset implements [database.Session].
func (h *helper) Reset(ctx context.Context) error {
	if h.lost != nil {
		return h.lost
	}
	h.rows, h.ctx = nil, nil
	if !h.more {
		return nil
	}
	h.more = false
	if h.box != nil {
		h.box.shut()
	}
	h.watch.Start(time.Now().Add(resetTime)) // ends a helper that reads no requests, which ends the write
	_, err := h.stream.Write(sealFrame(h.request(kindReset)))
	if !h.watch.Stop() || err != nil {
		h.lose()
		h.lost = database.ErrLost
	}
	return h.lost
}

// Close implements [database.Session]. It kills the helper and does not wait for its end.
func (h *helper) Close() error {
	if h.lost == nil {
		h.lost = database.ErrLost
	}
	h.process.Kill()
	h.pace.set(false)
	return h.stream.Close()
}
