package protocol_test

import (
	"bytes"
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// Everything a call can bring comes whole from another process, whatever was before it, through the least window.
func TestCallsToAnotherProcess(t *testing.T) {
	l := newLink(t, 256*kib)
	content := pattern(4 << 20)
	for range 2 {
		for _, op := range []abi.Op{opBody, opPushes, opInline, opFrame, opAsk} {
			for _, size := range []int{0, 1, 100, 64*kib - 8, 64 * kib, 100*kib + 1, 1 << 20, 4 << 20} { // the last fills the window 16 times
				want := content[:size]
				switch {
				case op == opFrame && size > abi.MaxFrame:
					continue
				case op == opFrame:
					want = append(bytes.Clone(pattern200[:]), want...)
				case op == opAsk:
					asked := want[:min(size, abi.MaxService)]
					want = append(bytes.Clone(want), bytes.Repeat(asked, 4)...)
				}
				var got []byte
				if err := l.do(op, size, func(p []byte) error { got = append(got, p...); return nil }); err != nil {
					t.Fatalf("op %d, %d bytes: %v", op, size, err)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("op %d: got %d other bytes than the %d wanted", op, len(got), len(want))
				}
			}
		}
	}
}

// The parent does not hang when the worker dies, be it in the middle of a message, between two, or while it is stopped.
func TestDeathOfAWorker(t *testing.T) {
	for name, c := range map[string]struct {
		op   abi.Op
		want error
		kill func(l *link) error
	}{
		"by itself, amid a message": {opDie, protocol.ErrGone, func(*link) error { return nil }},
		"killed in a body":          {opBody, protocol.ErrGone, func(l *link) error { return l.process.Process.Kill() }},
		"killed while stopped": {opInline, protocol.ErrGone, func(l *link) error {
			return errors.Join(l.process.Process.Signal(unix.SIGSTOP), l.process.Process.Kill())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLink(t, 0)
			killed := false
			err := l.do(c.op, 16<<20, func([]byte) error {
				if killed {
					return nil
				}
				killed = true
				return c.kill(l)
			})
			if err == nil || errors.Is(err, protocol.ErrViolation) {
				t.Errorf("got %v, want the end of the connection", err)
			}
			l.dead = true
		})
	}
}

// A worker that takes all it is offered and reads nothing cannot make the parent wait for more than the watchdog: what
// ends the worker ends the waiting.
func TestAWorkerThatReadsNothing(t *testing.T) {
	e := newEnds(t, 256*kib)
	waiting := make(chan error)
	go func() {
		chunk, p := protocol.Chunk{Length: 64 * kib}, []byte(nil)
		for {
			p = chunk.Append(p[:0])
			if err := e.receiver.Chunk(p, nil); err != nil {
				waiting <- err
				return
			}
			chunk.Offset = (chunk.Offset + chunk.Length) % (256 * kib)
		}
	}()
	for range 3 { // what it is given fits a socket many times
		if kind, _, err := e.worker.Next(); err != nil || kind != protocol.KindCredit {
			t.Fatal(kind, err)
		}
	}
	e.worker.Close()
	if err := <-waiting; !errors.Is(err, protocol.ErrGone) {
		t.Errorf("got %v, want %v", err, protocol.ErrGone)
	}
}
