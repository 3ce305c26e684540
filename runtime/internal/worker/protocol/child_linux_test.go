package protocol_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// childEnv makes this program the worker of a link that it finds in its third and fourth descriptor.
const childEnv = "WASMRES_WIRE_CHILD"

// What a child does with a call, whose Seq is a size in bytes.
const (
	opFrame  abi.Op = 100 + iota // a frame of 200 bytes, and one of that size if there is one
	opBody                       // a body, by way of the Sender
	opInline                     // a body, as messages
	opPushes                     // a body, by way of the Sender, in pushes of 4 KiB
	opAsk                        // a body, and what the service with that request answers
	opDie                        // a frame, half a message, and death
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	if err := work(); err != nil {
		os.Exit(1)
	}
}

// work serves the link until the parent closes it.
func work() error {
	socket := os.NewFile(3, "link")
	conn, err := protocol.Open(socket, 0)
	if err != nil {
		return err
	}
	mapping, err := protocol.OpenWindow(os.NewFile(4, "window"))
	if err != nil {
		return err
	}
	return (&worker{socket: socket, conn: conn, sender: protocol.NewSender(conn, mapping), content: pattern(16 << 20)}).serve()
}

// A worker is the other end of a link.
type worker struct {
	socket  *os.File // of conn
	conn    *protocol.Conn
	sender  *protocol.Sender
	content []byte
	call    protocol.Call
	done    protocol.Done
}

func (w *worker) serve() error {
	for {
		number, p, err := w.sender.NextCall()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := w.call.Decode(p); err != nil {
			return err
		}
		w.call.Seq = number
		if err := w.emit(w.call.Op, w.content[:min(w.call.Seq, uint64(len(w.content)))]); err != nil {
			return err
		}
		if err := errors.Join(w.sender.PutMessage(&w.done), w.sender.Flush()); err != nil {
			return err
		}
	}
}

func (w *worker) emit(op abi.Op, content []byte) error {
	s := w.sender
	switch op {
	case opFrame:
		if err := s.Put(protocol.KindFrame, pattern200[:]); err != nil || len(content) == 0 {
			return err
		}
		return s.Put(protocol.KindFrame, content)
	case opBody:
		return s.Body(content)
	case opPushes:
		for p := range slices.Chunk(content, 4<<10) {
			if err := s.Body(p); err != nil {
				return err
			}
		}
		return nil
	case opAsk:
		return w.ask(content)
	case opDie:
		if err := errors.Join(s.Put(protocol.KindFrame, content[:min(len(content), 1000)]), s.Flush()); err != nil {
			return err
		}
		return w.die()
	}
	for p := range slices.Chunk(content, 64<<10) {
		if err := s.Put(protocol.KindBody, p); err != nil {
			return err
		}
	}
	return nil
}

// die leaves half a message behind, as a process does that is killed.
func (w *worker) die() error {
	if w.socket != nil {
		half := raw(10, byte(protocol.KindFrame), 0, 3)
		binary.LittleEndian.PutUint64(half[8:], w.call.Seq)
		_, _ = w.socket.Write(half)
	}
	return errDied
}

var errDied = errors.New("told to die")

// ask sends content to the service and what it answers back as bodies, with chunks before and after.
func (w *worker) ask(content []byte) error {
	s := w.sender
	request := content[:min(len(content), abi.MaxService)]
	if err := errors.Join(s.Body(content), s.PutMessage(&protocol.Ask{Service: 7, Request: request}), s.Flush()); err != nil {
		return err
	}
	var a protocol.Answer
	message, body, err := s.NextAnswer(&a, nil, nil)
	if err != nil {
		return err
	}
	return errors.Join(s.Body(message), s.Body(body))
}

var pattern200 [200]byte

// pattern repeats after 251 bytes, which no window and no piece does.
func pattern(n int) []byte {
	b := make([]byte, 251, n+251)
	for i := range b {
		b[i] = byte(i)
	}
	for len(b) < n {
		b = append(b, b[:min(len(b), (n-len(b)+250)/251*251)]...)
	}
	return b[:n]
}

// A link is the parent's end of one whose worker is another process.
type link struct {
	conn     *protocol.Conn
	window   *protocol.Window
	receiver *protocol.Receiver
	process  *exec.Cmd

	call protocol.Call
	done protocol.Done
	dead bool // the process is to end badly
}

func newLink(tb testing.TB, window int) *link {
	tb.Helper()
	conn, theirs, err := protocol.Pair()
	if err != nil {
		tb.Fatal(err)
	}
	defer theirs.Close()
	w, err := protocol.NewWindow(window)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.ExtraFiles = []*os.File{theirs, w.File()}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	l := &link{conn: conn, window: w, receiver: protocol.NewReceiver(conn, w), process: cmd}
	tb.Cleanup(func() {
		closed, ended := errors.Join(conn.Close(), w.Close()), cmd.Wait()
		if closed != nil || (ended != nil) != l.dead {
			tb.Error(closed, ended)
		}
	})
	return l
}

// do runs one call and gives what it pushed to take.
func (l *link) do(op abi.Op, size int, take func(p []byte) error) error {
	l.call.Op, l.call.Seq = op, uint64(size)
	l.conn.Begin(l.call.Seq)
	l.conn.PutMessage(&l.call)
	if err := l.conn.Flush(); err != nil {
		return err
	}
	for {
		kind, p, err := l.conn.Next()
		if err != nil {
			return err
		}
		switch kind {
		case protocol.KindFrame, protocol.KindBody:
			err = take(p)
		case protocol.KindChunk:
			err = l.receiver.Chunk(p, take)
		case protocol.KindAsk:
			err = l.answer(p)
		case protocol.KindDone:
			return l.done.Decode(p)
		default:
			err = l.conn.Unexpected(kind)
		}
		if err != nil {
			return err
		}
	}
}

// answer answers a request with itself, and with a body that is it three times over.
func (l *link) answer(p []byte) error {
	var ask protocol.Ask
	if err := ask.Decode(p); err != nil {
		return err
	}
	return l.conn.SendAnswer(&protocol.Answer{Message: ask.Request}, bytes.Repeat(ask.Request, 3))
}
