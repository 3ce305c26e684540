package protocol_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// fits is how much can be written to a socket that no process reads.
const fits = 100_000

// stream is the messages of the seeds, one after the other.
func stream(tb testing.TB, list ...protocol.Message) []byte {
	tb.Helper()
	c, theirs := pair(tb)
	for _, m := range list {
		c.PutMessage(m)
	}
	c.Put(protocol.KindFrame, []byte("frame"))
	c.Put(protocol.KindBody, []byte("body"))
	if err := errors.Join(c.Flush(), c.Close()); err != nil {
		tb.Fatal(err)
	}
	b, err := io.ReadAll(theirs)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func seeds(f *testing.F) {
	f.Add([]byte{})
	f.Add(stream(f, &protocol.Call{Op: opBody, Seq: 100 * kib, Timeout: 1, Session: "s", Request: []byte("r")}, &protocol.Credit{Bytes: 1}, &protocol.Cancel{}))
	f.Add(stream(f, &protocol.Call{Op: opBody, Seq: 2 << 20}, &protocol.Credit{Bytes: 64 * kib}, &protocol.Credit{Bytes: 256 * kib}))
	f.Add(stream(f, &protocol.Call{Op: opAsk, Seq: 100}, &protocol.Answer{BodySize: 4, Message: []byte("m")}))
	f.Add(stream(f, &protocol.Chunk{Length: 64 * kib}, &protocol.Chunk{Offset: 64 * kib, Length: 5}, &protocol.Done{Message: "m", Cause: "c"}))
	f.Add(stream(f, &protocol.Ask{Service: 1, Request: []byte("r")}, &protocol.Log{Message: "m", Attrs: []protocol.Attr{{Key: "k", Value: "v"}}}, &protocol.Done{}))
	f.Add(raw(abi.MaxFrame, byte(protocol.KindFrame), 0, 100))
	f.Add(raw(1<<32-1, 255, 1, 0))
}

// FuzzNext reads what anybody may write: messages within their bounds that together are what was written, then one
// error for good.
func FuzzNext(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		input = input[:min(len(input), fits)]
		conn, theirs := pair(t)
		write(t, theirs, input)
		theirs.Close()
		rest := input
		for {
			kind, p, err := conn.Next()
			if err != nil {
				ended(t, conn, rest, err)
				return
			}
			const head = 16
			if len(p) > protocol.MaxPayload || len(rest) < head+len(p) || int(binary.LittleEndian.Uint32(rest)) != len(p) ||
				rest[4] != byte(kind) || !bytes.Equal(rest[head:head+len(p)], p) {
				t.Fatalf("got %v of %d bytes, which is not what was written", kind, len(p))
			}
			if number := binary.LittleEndian.Uint64(rest[8:]); kind != protocol.KindCall && number != 0 || number != conn.Number() {
				t.Fatalf("got %v of call %d, where %d was written and none is under way", kind, conn.Number(), number)
			}
			rest = rest[head+len(p):]
			decodes(t, kind, p)
		}
	})
}

func ended(t *testing.T, conn *protocol.Conn, rest []byte, err error) {
	t.Helper()
	if errors.Is(err, io.EOF) != (len(rest) == 0) || len(rest) > 0 && !errors.Is(err, protocol.ErrGone) && !errors.Is(err, protocol.ErrViolation) {
		t.Fatalf("with %d bytes left got %v", len(rest), err)
	}
	if _, _, again := conn.Next(); again != err {
		t.Fatalf("then got %v, want %v", again, err)
	}
}

// FuzzReceiver announces anything, against a model of the ring.
func FuzzReceiver(f *testing.F) {
	next := bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 1, 0}, 20) // 64 KiB where the last ended
	f.Add(next)
	f.Add([]byte{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255})
	f.Add(append(bytes.Clone(next), 0, 0, 0, 4, 0, 1, 0, 0, 0))
	f.Fuzz(func(t *testing.T, input []byte) {
		const size = 256 * kib
		e := newEnds(t, size)
		content := pattern(size)
		fill(t, e, content)
		at, owed, credited := uint32(0), uint32(0), 0
		for i := 0; len(input) >= 9 && i < 200; i, input = i+1, input[9:] {
			c := protocol.Chunk{Offset: binary.LittleEndian.Uint32(input[1:]), Length: binary.LittleEndian.Uint32(input[5:])}
			if input[0]&1 != 0 {
				c.Offset, c.Length = at, min(c.Length, size-at)
			}
			valid := c.Offset == at && c.Length > 0 && c.Length <= 64*kib && c.Length <= size-at
			var got []byte
			err := e.receiver.Chunk(c.Append(nil), func(p []byte) error { got = append(got, p...); return nil })
			if valid != (err == nil) {
				t.Fatalf("%+v at %d: got %v", c, at, err)
			}
			if !valid {
				return
			}
			if !bytes.Equal(got, content[at:at+c.Length]) {
				t.Fatalf("%+v: got other bytes", c)
			}
			at, owed = (at+c.Length)%size, owed+c.Length
			if owed >= size/4 {
				owed, credited = 0, credited+int(owed)
			}
		}
		e.parent.Close()
		given(t, e.worker, credited)
	})
}

// fill writes to the window what the worker would.
func fill(t *testing.T, e *ends, content []byte) {
	t.Helper()
	if err := e.sender.Body(content); err != nil {
		t.Fatal(err)
	}
}

// given reads all credit.
func given(t *testing.T, c *protocol.Conn, want int) {
	t.Helper()
	got := 0
	for {
		kind, p, err := c.Next()
		if err == io.EOF || errors.Is(err, protocol.ErrGone) {
			break
		}
		if err != nil || kind != protocol.KindCredit {
			t.Fatal(kind, err)
		}
		got += int(binary.LittleEndian.Uint32(p))
	}
	if got != want {
		t.Fatalf("got credit for %d bytes, want %d", got, want)
	}
}

// feed writes input as the whole of what the other end says, and reads what is said to it until our end is closed.
func feed(t *testing.T, theirs *os.File, input []byte) (drained <-chan struct{}) {
	t.Helper()
	write(t, theirs, input)
	if err := unix.Shutdown(int(theirs.Fd()), unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, theirs)
	}()
	return done
}

// FuzzParent feeds the parent's end of a link: the call ends, after no more than was said.
func FuzzParent(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		input = input[:min(len(input), fits)]
		conn, theirs := pair(t)
		w, _ := newWindow(t, 256*kib)
		l := &link{conn: conn, window: w, receiver: protocol.NewReceiver(conn, w)}
		drained := feed(t, theirs, input)
		pieces, largest := 0, 0
		err := l.do(opBody, 0, func(p []byte) error {
			pieces, largest = pieces+1, max(largest, len(p))
			return nil
		})
		if pieces > len(input)/8 || largest > abi.MaxFrame {
			t.Errorf("%d pieces of at most %d bytes out of %d", pieces, largest, len(input))
		}
		if err != nil && err != io.EOF && !errors.Is(err, protocol.ErrGone) && !errors.Is(err, protocol.ErrViolation) {
			t.Errorf("got %v", err)
		}
		conn.Close()
		<-drained
	})
}

// FuzzWorker feeds the worker's end of a link, which does what it is told until it cannot be meant.
func FuzzWorker(f *testing.F) {
	seeds(f)
	content := pattern(700 * kib)
	f.Fuzz(func(t *testing.T, input []byte) {
		input = input[:min(len(input), 4*kib)]
		conn, theirs := pair(t)
		_, m := newWindow(t, 256*kib)
		drained := feed(t, theirs, input)
		err := (&worker{conn: conn, sender: protocol.NewSender(conn, m), content: content}).serve()
		if err != nil && !errors.Is(err, protocol.ErrGone) && !errors.Is(err, protocol.ErrViolation) && !errors.Is(err, io.EOF) && !errors.Is(err, errDied) {
			t.Errorf("got %v", err)
		}
		conn.Close()
		<-drained
	})
}
