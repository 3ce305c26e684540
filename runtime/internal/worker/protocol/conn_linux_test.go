package protocol_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// pair is a connection and the bare file of its other end.
func pair(tb testing.TB) (*protocol.Conn, *os.File) {
	tb.Helper()
	c, theirs, err := protocol.Pair()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		c.Close()
		theirs.Close()
	})
	return c, theirs
}

// both returns both ends of a connection.
func both(tb testing.TB, maxFiles int) (ours, theirs *protocol.Conn) {
	tb.Helper()
	ours, file := pair(tb)
	theirs, err := protocol.Open(file, maxFiles)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { theirs.Close() })
	return ours, theirs
}

func write(tb testing.TB, f *os.File, p []byte) {
	tb.Helper()
	if _, err := f.Write(p); err != nil {
		tb.Fatal(err)
	}
}

// raw is a message of no call, with any header.
func raw(size uint32, kind byte, reserved uint32, payload int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, size)
	b = binary.LittleEndian.AppendUint32(b, uint32(kind)|reserved<<8)
	b = binary.LittleEndian.AppendUint64(b, 0)
	return append(b, make([]byte, payload)...)
}

func descriptors(tb testing.TB) int {
	tb.Helper()
	found, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		tb.Fatal(err)
	}
	return len(found)
}

func TestMessagesArriveInOrder(t *testing.T) {
	ours, theirs := both(t, 0)
	big := pattern(abi.MaxFrame)
	sent := make(chan error, 1)
	go func() {
		ours.Put(protocol.KindFrame)
		ours.Put(protocol.KindFrame, []byte("a"), nil, []byte("bc"))
		ours.Put(protocol.KindFrame, big)
		ours.PutMessage(&protocol.Credit{Bytes: 5})
		err := ours.Flush()
		for i := range 3000 { // longer together than any buffer, and cut anywhere
			ours.Put(protocol.KindFrame, big[:i])
		}
		sent <- errors.Join(err, ours.Flush(), ours.Close())
	}()
	next := func(kind protocol.Kind, want []byte) {
		t.Helper()
		k, p, err := theirs.Next()
		if err != nil || k != kind || !bytes.Equal(p, want) {
			t.Fatalf("got %v of %d bytes, %v; want %v of %d bytes", k, len(p), err, kind, len(want))
		}
	}
	next(protocol.KindFrame, nil)
	next(protocol.KindFrame, []byte("abc"))
	next(protocol.KindFrame, big)
	next(protocol.KindCredit, []byte{5, 0, 0, 0})
	for i := range 3000 {
		next(protocol.KindFrame, big[:i])
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, _, err := theirs.Next(); err != io.EOF {
			t.Errorf("at the end got %v, want EOF", err)
		}
	}
}

// What a hostile process may write before it closes its end, how that is called, and that nothing is allocated for it.
func TestNextRefuses(t *testing.T) {
	frame := byte(protocol.KindFrame)
	for name, c := range map[string]struct {
		input []byte
		want  error
		says  string
		most  uint64 // bytes allocated
	}{
		"nothing":                   {nil, io.EOF, "EOF", 80 << 10},
		"half a header":             {raw(1, frame, 0, 0)[:5], protocol.ErrGone, "", 80 << 10},
		"header without payload":    {raw(1, frame, 0, 0), protocol.ErrGone, "frame message of 1 bytes", 80 << 10},
		"less than declared":        {raw(abi.MaxFrame, frame, 0, 100), protocol.ErrGone, "frame message of 1048576 bytes", protocol.MaxPayload + 80<<10},
		"longer than any message":   {raw(protocol.MaxPayload+1, frame, 0, 100), protocol.ErrViolation, "at most", 80 << 10},
		"as long as can be said":    {raw(1<<32-1, frame, 0, 100), protocol.ErrViolation, "4294967295 bytes", 80 << 10},
		"longer than its kind":      {raw(abi.MaxFrame+1, frame, 0, 100), protocol.ErrViolation, "at most 1048576", 80 << 10},
		"long where numbers are":    {raw(1<<20, byte(protocol.KindChunk), 0, 100), protocol.ErrViolation, "chunk", 80 << 10},
		"shorter than its kind":     {raw(7, byte(protocol.KindChunk), 0, 7), protocol.ErrViolation, "at least 8", 80 << 10},
		"empty body":                {raw(0, byte(protocol.KindBody), 0, 0), protocol.ErrViolation, "at least 1", 80 << 10},
		"kind zero":                 {raw(0, 0, 0, 0), protocol.ErrViolation, "unknown message kind 0", 80 << 10},
		"kind in a gap":             {raw(0, 13, 0, 0), protocol.ErrViolation, "unknown message kind 13", 80 << 10},
		"kind beyond all":           {raw(0, 255, 0, 0), protocol.ErrViolation, "unknown message kind 255", 80 << 10},
		"first reserved byte":       {raw(0, frame, 1, 0), protocol.ErrViolation, "reserved", 80 << 10},
		"last reserved byte":        {raw(0, frame, 1<<23, 0), protocol.ErrViolation, "reserved", 80 << 10},
		"good, then half a message": {append(raw(3, frame, 0, 3), 9, 9), protocol.ErrGone, "", 80 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			conn, got, err := readToTheError(t, c.input)
			for range 2 { // other goroutines of the process allocate, too
				if got > c.most {
					conn, got, err = readToTheError(t, c.input)
				}
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.want, c.says)
			}
			if got > c.most {
				t.Errorf("%d bytes allocated, want at most %d", got, c.most)
			}
			if again := last(conn); again != err {
				t.Errorf("then got %v, want %v again", again, err)
			}
			if again := conn.Flush(); again != err {
				t.Errorf("Flush got %v, want %v again", again, err)
			}
		})
	}
}

// readToTheError reads what a process has written before it closed its end. allocated is what the whole process allocated
// meanwhile, in bytes.
func readToTheError(t *testing.T, input []byte) (conn *protocol.Conn, allocated uint64, err error) {
	t.Helper()
	conn, theirs := pair(t)
	write(t, theirs, input)
	theirs.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = last(conn)
	runtime.ReadMemStats(&after)
	return conn, after.TotalAlloc - before.TotalAlloc, err
}

// last reads to the error.
func last(c *protocol.Conn) error {
	for {
		if _, _, err := c.Next(); err != nil {
			return err
		}
	}
}

func TestWhatCannotBeSentIsSaid(t *testing.T) {
	for name, put := range map[string]func(*protocol.Conn){
		"unknown kind": func(c *protocol.Conn) { c.Put(14) },
		"too long":     func(c *protocol.Conn) { c.Put(protocol.KindFrame, make([]byte, abi.MaxFrame), []byte{1}) },
		"too short":    func(c *protocol.Conn) { c.Put(protocol.KindChunk, []byte{1}) },
		"bad field":    func(c *protocol.Conn) { c.PutMessage(&protocol.Call{Session: strings.Repeat("s", 257)}) },
		"body":         func(c *protocol.Conn) { _ = c.SendAnswer(&protocol.Answer{}, make([]byte, protocol.MaxAnswerBody+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			conn, theirs := pair(t)
			put(conn)
			conn.Put(protocol.KindFrame)
			if err := conn.Flush(); err == nil || errors.Is(err, protocol.ErrViolation) {
				t.Errorf("got %v, want an error that is not the other side's", err)
			}
			conn.Close()
			if got, err := io.ReadAll(theirs); err != nil || len(got) > 0 {
				t.Errorf("%d bytes were sent all the same, %v", len(got), err)
			}
		})
	}
}

func TestDeathOfTheOtherProcess(t *testing.T) {
	for name, read := range map[string]int{"nothing read": 0, "something read": 100_000} {
		t.Run(name, func(t *testing.T) {
			conn, theirs := pair(t)
			flushed := make(chan error, 1)
			go func() {
				conn.Put(protocol.KindFrame, make([]byte, abi.MaxFrame))
				flushed <- conn.Flush()
			}()
			if _, err := io.ReadFull(theirs, make([]byte, read)); err != nil {
				t.Fatal(err)
			}
			theirs.Close()
			if err := <-flushed; !errors.Is(err, protocol.ErrGone) {
				t.Errorf("got %v, want %v", err, protocol.ErrGone)
			}
		})
	}
}

func TestShutEndsABlockedRead(t *testing.T) {
	for name, end := range map[string]func(*protocol.Conn){"Shutdown": (*protocol.Conn).Shutdown, "Close": func(c *protocol.Conn) { c.Close() }} {
		t.Run(name, func(t *testing.T) {
			for range 200 {
				conn, theirs := pair(t)
				write(t, theirs, raw(100, byte(protocol.KindFrame), 0, 50))
				done := make(chan error)
				go func() { done <- last(conn) }()
				end(conn)
				if err := <-done; !errors.Is(err, protocol.ErrClosed) {
					t.Fatalf("got %v, want %v", err, protocol.ErrClosed)
				}
				theirs.Close()
				conn.Close()
			}
		})
	}
}

func TestShutEndsABlockedWrite(t *testing.T) {
	for name, end := range map[string]func(*protocol.Conn){"Shutdown": (*protocol.Conn).Shutdown, "Close": func(c *protocol.Conn) { c.Close() }} {
		t.Run(name, func(t *testing.T) {
			conn, theirs := pair(t)
			done := make(chan error)
			go func() {
				conn.Put(protocol.KindFrame, make([]byte, abi.MaxFrame))
				done <- conn.Flush()
			}()
			if _, err := io.ReadFull(theirs, make([]byte, 1000)); err != nil { // it has begun, and cannot end
				t.Fatal(err)
			}
			end(conn)
			if err := <-done; !errors.Is(err, protocol.ErrClosed) {
				t.Errorf("got %v, want %v", err, protocol.ErrClosed)
			}
		})
	}
}

func TestAMessageOfAnotherCallIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name               string
		sent, under, other uint64 // the numbers of the message, of the call under way, and of the next message
		kind               protocol.Kind
		want               string // in the error for the next message
	}{
		{"of the call before", 2, 2, 1, protocol.KindFrame, "frame message of another call"},
		{"of the call to come", 2, 2, 3, protocol.KindDone, "done message of another call"},
		{"of no call", 2, 2, 0, protocol.KindChunk, "chunk message of another call"},
		{"of a call where none is under way", 0, 0, 1, protocol.KindLog, "log message of another call"},
		{"credit of a call", 0, 2, 2, protocol.KindCredit, "credit message of another call"},
		{"an ask", 1 << 63, 1 << 63, 1<<63 + 1, protocol.KindAsk, "ask message of another call"},
		{"an answer", 7, 7, 8, protocol.KindAnswer, "answer message of another call"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, theirs := pair(t)
			conn.Begin(tt.under)
			payload := map[protocol.Kind]int{protocol.KindFrame: 1, protocol.KindDone: 36, protocol.KindChunk: 8, protocol.KindLog: 4, protocol.KindCredit: 4, protocol.KindAsk: 4, protocol.KindAnswer: 12}[tt.kind]
			for _, number := range []uint64{tt.sent, tt.other} {
				if kind := tt.kind; number == tt.other || kind != protocol.KindCredit {
					b := raw(uint32(payload), byte(kind), 0, payload)
					binary.LittleEndian.PutUint64(b[8:], number)
					write(t, theirs, b)
				}
			}
			if tt.kind != protocol.KindCredit {
				if kind, _, err := conn.Next(); kind != tt.kind || err != nil {
					t.Fatalf("got %v, %v, want the message of the call under way", kind, err)
				}
			}
			if _, _, err := conn.Next(); !errors.Is(err, protocol.ErrViolation) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// While a reader is about to read, its descriptor does not become that of another connection.
func TestCloseKeepsTheDescriptorFromOthers(t *testing.T) {
	before := descriptors(t)
	for range 500 {
		conn, theirs, err := protocol.Pair()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- last(conn) }()
		conn.Close()
		other, otherTheirs, err := protocol.Pair() // takes the number, if it is free
		if err != nil {
			t.Fatal(err)
		}
		write(t, otherTheirs, raw(3, byte(protocol.KindFrame), 0, 3))
		if kind, p, err := other.Next(); err != nil || kind != protocol.KindFrame || len(p) != 3 {
			t.Fatalf("the other got %v %x %v", kind, p, err)
		}
		if err := <-done; !errors.Is(err, protocol.ErrClosed) {
			t.Fatalf("got %v, want %v", err, protocol.ErrClosed)
		}
		if err := errors.Join(conn.Close(), other.Close(), theirs.Close(), otherTheirs.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors, at the start %d", after, before)
	}
}

func TestOpenRefusesWhatIsNoSocket(t *testing.T) {
	before := descriptors(t)
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := protocol.Open(f, 0); err == nil {
		t.Error("opened /dev/null")
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors, at the start %d", after, before)
	}
}

func TestFilesComeWithTheirMessage(t *testing.T) {
	ours, theirs := both(t, 2)
	for i := range uint32(3) {
		w, err := protocol.NewWindow(0)
		if err != nil {
			t.Fatal(err)
		}
		_, link, err := protocol.Pair()
		if err != nil {
			t.Fatal(err)
		}
		ours.Put(protocol.KindStart, []byte("{}"))
		if err := ours.SendFiles(&protocol.NewLink{ID: i}, link, w.File()); err != nil {
			t.Fatal(err)
		}
		link.Close()
		w.Close()
	}
	for range 3 {
		for _, want := range []protocol.Kind{protocol.KindStart, protocol.KindNewLink} {
			if kind, _, err := theirs.Next(); err != nil || kind != want {
				t.Fatalf("got %v %v, want %v", kind, err, want)
			}
		}
		files, err := theirs.TakeFiles(2)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := protocol.Open(files[0], 0)
		if err != nil {
			t.Fatal(err)
		}
		m, err := protocol.OpenWindow(files[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(conn.Close(), m.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesThatAreNotExpectedAreRefused(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, c := range map[string]struct{ maxFiles, sent, taken int }{
		"none expected": {0, 1, 0},
		"too many":      {2, 3, 2},
		"far too many":  {2, 200, 2},
		"too few":       {2, 1, 2},
		"none":          {2, 0, 2},
		"not wanted":    {2, 2, 0},
		"room for two":  {1, 2, 2},
		"three times":   {2, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			before := descriptors(t)
			ours, theirs, err := protocol.Pair()
			if err != nil {
				t.Fatal(err)
			}
			conn, err := protocol.Open(theirs, c.maxFiles)
			if err != nil {
				t.Fatal(err)
			}
			files := make([]*os.File, c.sent)
			for i := range files {
				files[i] = null
			}
			if err := ours.SendFiles(&protocol.NewLink{}, files...); err != nil {
				t.Fatal(err)
			}
			_, _, err = conn.Next()
			if err == nil {
				_, err = conn.TakeFiles(c.taken)
			}
			if !errors.Is(err, protocol.ErrViolation) {
				t.Errorf("got %v, want a breach of the protocol", err)
			}
			if err := errors.Join(ours.Close(), conn.Close()); err != nil {
				t.Fatal(err)
			}
			if after := descriptors(t); after > before {
				t.Errorf("%d descriptors, at the start %d", after, before)
			}
		})
	}
}

func TestFilesThatAreNotTakenAreClosed(t *testing.T) {
	before := descriptors(t)
	ours, theirs, err := protocol.Pair()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := protocol.Open(theirs, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := ours.SendFiles(&protocol.NewLink{}, os.Stdin, os.Stdin); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Next(); err != nil {
		t.Fatal(err)
	}
	if got := descriptors(t); got != before+4 {
		t.Fatalf("got %d descriptors, want %d", got, before+4)
	}
	if err := errors.Join(ours.Close(), conn.Close()); err != nil {
		t.Fatal(err)
	}
	if got := descriptors(t); got != before {
		t.Errorf("got %d descriptors, want %d", got, before)
	}
}

// The other end may make its own socket not block. Ours does.
func TestTheOtherEndCannotMakeOursNotBlock(t *testing.T) {
	ours, theirs := pair(t)
	if err := unix.SetNonblock(int(theirs.Fd()), true); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- last(ours) }()
	if _, err := unix.Write(int(theirs.Fd()), raw(0, byte(protocol.KindFrame), 0, 0)); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	if err := <-done; err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
}

func TestACallAllocatesNothing(t *testing.T) {
	ours, theirs := both(t, 0)
	call, done := &protocol.Call{Request: make([]byte, 100)}, &protocol.Done{}
	frame := make([]byte, 200)
	if got := testing.AllocsPerRun(1000, func() {
		ours.PutMessage(call)
		_ = ours.Flush()
		_, p, _ := theirs.Next()
		_ = call.Decode(p)
		theirs.Put(protocol.KindFrame, frame)
		theirs.PutMessage(done)
		_ = theirs.Flush()
		_, _, _ = ours.Next()
		if kind, p, err := ours.Next(); err != nil || kind != protocol.KindDone || done.Decode(p) != nil {
			t.Fatal(kind, err)
		}
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// What long messages took is given back when the next ones are read and sent.
func TestLongMessagesAreNotKept(t *testing.T) {
	var before, after runtime.MemStats
	frame, n := make([]byte, abi.MaxFrame), 40
	conns := make([]*protocol.Conn, 0, 2*n)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range n {
		ours, theirs := both(t, 0)
		for _, p := range [][]byte{frame, nil} {
			sent := make(chan error)
			go func() {
				ours.Put(protocol.KindFrame, p)
				sent <- ours.Flush()
			}()
			if _, _, err := theirs.Next(); err != nil {
				t.Fatal(err)
			}
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
		}
		conns = append(conns, ours, theirs)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := int(after.HeapAlloc-before.HeapAlloc) / n; got > 200*kib {
		t.Errorf("%d bytes are kept for each connection, want at most 200 KiB", got)
	}
	runtime.KeepAlive(conns)
}

// A connection that carries short messages has a small buffer: a server has thousands of them.
func TestShortMessagesNeedLittleMemory(t *testing.T) {
	const conns = 100
	var all [conns][2]*protocol.Conn
	for i := range all {
		all[i][0], all[i][1] = both(t, 0)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, c := range all {
		c[0].Put(protocol.KindEndSession, []byte("session"))
		if err := c[0].Flush(); err != nil {
			t.Fatal(err)
		}
		if _, p, err := c[1].Next(); err != nil || string(p) != "session" {
			t.Fatalf("got %q, %v", p, err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / conns; got > 16<<10 {
		t.Errorf("got %d bytes for a short message, want 16 KiB at most", got)
	}
}
