package protocol_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

const kib = 1 << 10

// ends are both ends of a link in one process.
type ends struct {
	parent, worker *protocol.Conn
	window         *protocol.Window
	mapping        *protocol.Mapping
	receiver       *protocol.Receiver
	sender         *protocol.Sender
}

func newEnds(tb testing.TB, size int) *ends {
	tb.Helper()
	e := &ends{}
	e.parent, e.worker = both(tb, 0)
	e.window, e.mapping = newWindow(tb, size)
	e.receiver, e.sender = protocol.NewReceiver(e.parent, e.window), protocol.NewSender(e.worker, e.mapping)
	return e
}

func newWindow(tb testing.TB, size int) (*protocol.Window, *protocol.Mapping) {
	tb.Helper()
	w, err := protocol.NewWindow(size)
	if err != nil {
		tb.Fatal(err)
	}
	fd, err := unix.Dup(int(w.File().Fd()))
	if err != nil {
		tb.Fatal(err)
	}
	m, err := protocol.OpenWindow(os.NewFile(uintptr(fd), "window"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := errors.Join(w.Close(), m.Close()); err != nil {
			tb.Error(err)
		}
	})
	return w, m
}

func TestWindowSizes(t *testing.T) {
	for name, c := range map[string]struct{ size, want int }{
		"default": {0, protocol.DefaultWindow}, "least": {256 * kib, 256 * kib}, "most": {protocol.MaxWindow, protocol.MaxWindow},
		"too small": {252 * kib, 0}, "too large": {protocol.MaxWindow + 64*kib, 0}, "not whole pages": {256*kib + 1, 0}, "negative": {-4096, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := protocol.NewWindow(c.size)
			if c.want == 0 {
				if err == nil {
					t.Fatal("got a window, want an error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if w.Size() != c.want {
				t.Errorf("got %d bytes, want %d", w.Size(), c.want)
			}
		})
	}
}

// No process that has the file can change its size, nor make it one that cannot be written to.
func TestWindowsKeepTheirSize(t *testing.T) {
	w, _ := newWindow(t, 0)
	fd := int(w.File().Fd())
	for name, change := range map[string]func() error{
		"shrink":       func() error { return unix.Ftruncate(fd, 0) },
		"grow":         func() error { return unix.Ftruncate(fd, 2*protocol.DefaultWindow) },
		"grow by data": func() error { _, err := unix.Pwrite(fd, []byte{1}, protocol.DefaultWindow+pipesSize); return err },
		"reserve": func() error {
			return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, protocol.DefaultWindow+pipesSize, 4096)
		},
		"seal": func() error {
			_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE)
			return err
		},
	} {
		if err := change(); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func TestOpenWindowRefuses(t *testing.T) {
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	for name, c := range map[string]struct {
		size  int64
		seals int
	}{
		"not sealed": {protocol.DefaultWindow, 0}, "may shrink": {protocol.DefaultWindow, unix.F_SEAL_GROW | unix.F_SEAL_SEAL},
		"may be sealed": {protocol.DefaultWindow, unix.F_SEAL_GROW | unix.F_SEAL_SHRINK}, "not writable": {protocol.DefaultWindow, seals | unix.F_SEAL_WRITE},
		"empty": {0, seals}, "too small": {4096, seals}, "too large": {1 << 40, seals}, "odd": {protocol.DefaultWindow + 1, seals},
	} {
		t.Run(name, func(t *testing.T) {
			fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
			if err != nil {
				t.Fatal(err)
			}
			if err := unix.Ftruncate(fd, c.size); err != nil {
				t.Fatal(err)
			}
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, c.seals); err != nil {
				t.Fatal(err)
			}
			if m, err := protocol.OpenWindow(os.NewFile(uintptr(fd), "test")); err == nil {
				t.Error("got a mapping, want an error", m.Close())
			}
		})
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := protocol.OpenWindow(null); err == nil {
		t.Error("opened /dev/null")
	}
}

func TestTrimGivesMemoryBack(t *testing.T) {
	e := newEnds(t, 0)
	used := func() int64 {
		var stat unix.Stat_t
		if err := unix.Fstat(int(e.window.File().Fd()), &stat); err != nil {
			t.Fatal(err)
		}
		return stat.Blocks
	}
	content := pattern(100 * kib)
	for range 2 {
		if got := used(); got != 0 {
			t.Errorf("got %d blocks, want none", got)
		}
		e.transfer(t, content)
		if got := used(); got < 100*2 {
			t.Errorf("got %d blocks, want at least 200", got)
		}
		if err := e.receiver.Trim(); err != nil {
			t.Fatal(err)
		}
	}
}

// transfer pushes content through the window, as one call.
func (e *ends) transfer(t *testing.T, content []byte) {
	t.Helper()
	e.parent.PutMessage(&protocol.Call{})
	if err := e.parent.Flush(); err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() {
		_, _, err := e.sender.NextCall()
		sent <- errors.Join(err, e.sender.Body(content), e.sender.PutMessage(&protocol.Done{}), e.sender.Flush())
	}()
	var got []byte
	for {
		kind, p, err := e.parent.Next()
		switch {
		case err != nil:
			t.Fatal(err)
		case kind == protocol.KindBody:
			got = append(got, p...)
		case kind == protocol.KindChunk:
			if err := e.receiver.Chunk(p, func(p []byte) error { got = append(got, p...); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if kind == protocol.KindDone {
			break
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, content) {
		t.Fatalf("got other bytes than the %d that were sent", len(content))
	}
}

func TestBodiesArriveWhole(t *testing.T) {
	content := pattern(3 << 20)
	for _, size := range []int{256 * kib, 260 * kib, 1 << 20} {
		e := newEnds(t, size)
		for _, n := range []int{0, 1, 16 * kib, 16*kib + 1, 64 * kib, 64*kib + 1, 256 * kib, 3 << 20, 5, 3<<20 - 7} {
			e.transfer(t, content[:n])
		}
	}
}

// What the other process must not announce, after a first chunk of 60 KiB at the beginning of a window of 256 KiB.
func TestReceiverRefuses(t *testing.T) {
	chunks := func(n ...uint32) (list []protocol.Chunk) {
		for i := 0; i < len(n); i += 2 {
			list = append(list, protocol.Chunk{Offset: n[i], Length: n[i+1]})
		}
		return list
	}
	for name, c := range map[string][]protocol.Chunk{
		"the same again":         chunks(0, 60*kib),
		"overlap":                chunks(59*kib, 4*kib),
		"gap":                    chunks(61*kib, 4*kib),
		"nothing":                chunks(60*kib, 0),
		"more than a piece":      chunks(60*kib, 64*kib+1),
		"all that can be said":   chunks(60*kib, 1<<32-1),
		"far away":               chunks(1<<32-1, 1<<32-1),
		"beyond the end":         chunks(60*kib, 64*kib, 124*kib, 64*kib, 188*kib, 64*kib, 252*kib, 5*kib),
		"at the end":             chunks(60*kib, 64*kib, 124*kib, 64*kib, 188*kib, 64*kib, 252*kib, 4*kib, 256*kib, 1),
		"at the beginning early": chunks(60*kib, 64*kib, 0, 1),
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnds(t, 256*kib)
			announce(t, e, protocol.Chunk{Length: 60 * kib})
			for _, good := range c[:len(c)-1] {
				announce(t, e, good)
			}
			bad := c[len(c)-1]
			err := e.receiver.Chunk(bad.Append(nil), func([]byte) error { t.Error("bytes were taken"); return nil })
			if !errors.Is(err, protocol.ErrViolation) {
				t.Fatalf("got %v, want a breach of the protocol", err)
			}
			if again := e.parent.Flush(); again != err {
				t.Errorf("then got %v, want %v", again, err)
			}
		})
	}
}

func announce(t *testing.T, e *ends, c protocol.Chunk) {
	t.Helper()
	if err := e.receiver.Chunk(c.Append(nil), func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// What takes the bytes may fail: the rest of the call can be skipped.
func TestReceiverGoesOnAfterItsTakerFailed(t *testing.T) {
	e := newEnds(t, 256*kib)
	full := errors.New("full")
	c := protocol.Chunk{Length: 64 * kib}
	if err := e.receiver.Chunk(c.Append(nil), func([]byte) error { return full }); err != full {
		t.Fatalf("got %v, want %v", err, full)
	}
	for range 20 {
		c.Offset = (c.Offset + c.Length) % (256 * kib)
		if err := e.receiver.Chunk(c.Append(nil), nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		size   uint32
		pieces []string
		want   string
		fails  bool
	}{
		"no body":        {0, nil, "", false},
		"one piece":      {3, []string{"abc"}, "abc", false},
		"many pieces":    {4, []string{"a", "bc", "d"}, "abcd", false},
		"too much":       {4, []string{"a", "bcde"}, "", true},
		"something else": {4, []string{"a", ""}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnds(t, 0)
			e.parent.PutMessage(&protocol.Answer{Code: 3, BodySize: c.size, Message: []byte("message")})
			for _, p := range c.pieces {
				if p == "" {
					e.parent.PutMessage(&protocol.Cancel{})
					continue
				}
				e.parent.Put(protocol.KindBody, []byte(p))
			}
			if err := e.parent.Flush(); err != nil {
				t.Fatal(err)
			}
			var a protocol.Answer
			message, body, err := e.sender.NextAnswer(&a, []byte("of the last"), []byte("of the last"))
			if c.fails {
				if !errors.Is(err, protocol.ErrViolation) {
					t.Errorf("got %v, want a breach of the protocol", err)
				}
				return
			}
			if err != nil || a.Code != 3 || string(message) != "message" || string(a.Message) != "message" || string(body) != c.want {
				t.Errorf("got %d %q %q %v, want %q", a.Code, message, body, err, c.want)
			}
		})
	}
}

// The parent is trusted, yet what it writes is checked.
func TestSenderRefuses(t *testing.T) {
	for name, put := range map[string]func(*protocol.Conn){
		"credit for nothing": func(c *protocol.Conn) { c.PutMessage(&protocol.Credit{Bytes: 1}) },
		"credit of nothing":  func(c *protocol.Conn) { c.PutMessage(&protocol.Credit{}) },
		"calls without end": func(c *protocol.Conn) {
			for range 3 {
				c.PutMessage(&protocol.Call{Request: make([]byte, protocol.MaxQueuedBytes/2)})
			}
		},
		"an answer to no question": func(c *protocol.Conn) { c.PutMessage(&protocol.Answer{}) },
		"too much credit":          func(c *protocol.Conn) { c.PutMessage(&protocol.Credit{Bytes: 256*kib + 1}) },
		"too much credit later": func(c *protocol.Conn) {
			c.PutMessage(&protocol.Credit{Bytes: 64 * kib})
			c.PutMessage(&protocol.Credit{Bytes: 1<<32 - 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnds(t, 256*kib)
			put(e.parent)
			if err := e.parent.Flush(); err != nil {
				t.Fatal(err)
			}
			var err error
			if name == "credit for nothing" || name == "credit of nothing" {
				_, _, err = e.sender.NextCall()
			} else {
				err = e.sender.Body(make([]byte, 1<<20))
			}
			if !errors.Is(err, protocol.ErrViolation) {
				t.Errorf("got %v, want a breach of the protocol", err)
			}
		})
	}
}

// Calls that come while another is under way wait for their turn, in whatever the worker is waiting for.
func TestCallsAheadAreKept(t *testing.T) {
	e := newEnds(t, 256*kib)
	call := func(seq uint64) {
		e.parent.PutMessage(&protocol.Call{Seq: seq, Request: []byte{byte(seq)}})
	}
	e.parent.Begin(1)
	call(1)
	call(2) // met while waiting for an answer
	e.parent.PutMessage(&protocol.Answer{})
	call(3) // met while waiting for credit
	e.parent.PutMessage(&protocol.Credit{Bytes: 256 * kib})
	call(4) // met by no wait
	if err := e.parent.Flush(); err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= 4; seq++ {
		number, p, err := e.sender.NextCall()
		if err != nil {
			t.Fatal(err)
		}
		var got protocol.Call
		if err := got.Decode(p); err != nil || number != seq || !bytes.Equal(got.Request, []byte{byte(seq)}) {
			t.Fatalf("got call %d %+v, %v, want call %d", number, got, err, seq)
		}
		if seq > 1 {
			continue
		}
		var a protocol.Answer
		if _, _, err := e.sender.NextAnswer(&a, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := e.sender.Body(make([]byte, 300*kib)); err != nil { // more than the window has
			t.Fatal(err)
		}
	}
}
