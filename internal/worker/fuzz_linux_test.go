package worker_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/worker"
	"github.com/wasmres/wasmres/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/engine/wazero"
)

// messages makes of any bytes messages with proper headers: each takes a byte for its kind, two for its size, and that
// many bytes or what is left. All have the same number.
func messages(b []byte, number uint64) (all []byte) {
	for len(b) > 3 {
		kind, size := protocol.Kind(b[0]%24), int(binary.LittleEndian.Uint16(b[1:]))
		size = min(size, len(b)-3)
		all = append(append(all, header(size, kind, number)...), b[3:3+size]...)
		b = b[3+size:]
	}
	return all
}

// unmake is the reverse of messages, for seeds.
func unmake(list ...protocol.Message) (b []byte) {
	for _, m := range list {
		b = append(b, byte(m.Kind()), 0, 0)
		at := len(b)
		b = m.Append(b)
		binary.LittleEndian.PutUint16(b[at-2:], uint16(len(b)-at))
	}
	return b
}

// A plain message has any kind and payload.
type plain struct {
	kind    protocol.Kind
	payload []byte
}

func (p plain) Kind() protocol.Kind    { return p.kind }
func (p plain) Append(b []byte) []byte { return append(b, p.payload...) }
func (p plain) Check() error           { return nil }

// pour writes all of b to a socket, ends it, and reads what comes from there until its end.
func pour(socket *os.File, b []byte) {
	defer socket.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, socket)
	}()
	_, _ = socket.Write(b)
	_ = unix.Shutdown(int(socket.Fd()), unix.SHUT_WR)
	<-read
}

// hangs fails the program when what is begun does not end.
func hangs() (ended func() bool) {
	return time.AfterFunc(2*patience, func() { panic("it does not end") }).Stop
}

func FuzzParent(f *testing.F) {
	head := plain{protocol.KindFrame, (&abi.Content{URI: "x:o", Kind: abi.KindBlob}).Append(nil)}
	text := plain{protocol.KindFrame, (&abi.Content{URI: "x:o", Kind: abi.KindText, Inline: []byte("fine")}).Append(nil)}
	page := plain{protocol.KindFrame, (&abi.Reply{Resources: []abi.Resource{{URI: "x:o", Name: "o"}}, NextCursor: "c"}).Append(nil)}
	for _, seed := range [][]byte{
		nil, unmake(text, &protocol.Done{}), unmake(head, plain{protocol.KindBody, make([]byte, 1000)}, &protocol.Chunk{Length: 5000}, &protocol.Chunk{Offset: 5000, Length: 60000}, &protocol.Done{}),
		unmake(page, page, &protocol.Done{Fuel: 1 << 60}), unmake(&protocol.Ask{Service: abi.ServiceConfig, Request: []byte("\n\x03key")}, &protocol.Ask{Service: abi.ServiceNotifyUpdated}, &protocol.Done{}),
		unmake(plain{protocol.KindChanged, []byte("x:c")}, plain{protocol.KindChanged, nil}, &protocol.Log{Message: "m", Attrs: []protocol.Attr{{Key: "k", Value: "v"}}}, &protocol.Done{Code: abi.CodeTrap, Message: "m", Data: "{}", Cause: "c"}),
		unmake(&protocol.Done{Code: 77}), unmake(head, &protocol.Done{}, &protocol.Done{}), unmake(&protocol.Call{}), unmake(&protocol.Answer{}), unmake(&protocol.Credit{Bytes: 1}),
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(1))
		f.Add(messages(seed, 0), uint8(2))
	}
	const output, items = 1 << 20, 100
	var said []byte
	p := puppet()
	asMessages, number := false, uint64(0)
	parent := &worker.Parent{Say: func(socket *os.File, call uint64) {
		switch {
		case !asMessages:
			pour(socket, said)
		case number == 0:
			pour(socket, messages(said, call))
		default:
			pour(socket, messages(said, number))
		}
	}}
	m, err := runtime.Load(f.Context(), runtime.Config{
		Runner: parent, Services: capability.Services{abi.ServiceConfig: capability.Config{"key": "value"}}, Limits: runtime.Limits{Output: output, Items: items, Timeout: patience},
		Notify: func(context.Context, string) {},
	}, p.Binary(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		defer hangs()()
		op := abi.OpRead
		if how&1 != 0 {
			op = abi.OpList
		}
		said, asMessages, number = b, how&2 == 0, uint64(how>>2) // of another call, unless it is 0
		var got sink
		reply, err := m.Call(t.Context(), op, &abi.Request{URI: "x:o"}, &got)
		if got.size > output || len(got.heads) > items {
			t.Errorf("got %d bytes in %d contents", got.size, len(got.heads))
		}
		if err == nil && (op == abi.OpRead && len(got.heads) == 0 || len(reply.Resources) > items) {
			t.Errorf("got %d contents, %d entries", len(got.heads), len(reply.Resources))
		}
		if err != nil && len(err.Error()) > 8<<10 {
			t.Errorf("got an error of %d bytes", len(err.Error()))
		}
		if cause := errors.Unwrap(err); cause != nil && strings.HasPrefix(cause.Error(), "panic: ") {
			t.Error(cause)
		}
	})
}

func FuzzWorker(f *testing.F) {
	call := &protocol.Call{Seq: 1, Op: abi.OpRead, Timeout: time.Second, Session: "s", Request: (&abi.Request{URI: "x:o"}).Append(nil)}
	fault := func(uri string) *protocol.Call {
		return &protocol.Call{Op: abi.OpRead, Timeout: time.Hour, Request: (&abi.Request{URI: uri}).Append(nil)}
	}
	for _, seed := range [][]byte{
		nil, unmake(call, call), unmake(fault("x:l"), &protocol.Credit{Bytes: 1 << 18}, fault("x:k"), fault("x:n")), unmake(fault("x:e"), fault("x:u"), &protocol.Answer{Code: 3}),
		unmake(&protocol.Answer{}, call), unmake(&protocol.Cancel{Link: 1, Seq: 1}, plain{protocol.KindEndSession, []byte("s")}, &protocol.NewLink{ID: 3}), unmake(&protocol.Credit{Bytes: 1}, call),
		unmake(&protocol.Call{Op: 99, Timeout: 1}), unmake(&protocol.Call{Op: abi.OpList, Timeout: -1}), unmake(plain{protocol.KindStart, []byte("{}")}),
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(1))
		f.Add(messages(seed, 0), uint8(2))
	}
	e, err := wazero.Open(wazero.Config{})
	if err != nil {
		f.Fatal(err)
	}
	child, err := worker.OpenChild(f.Context(), e, runtime.Limits{Fuel: 1e6, Timeout: time.Second, Output: 8 << 20}, wat(f, "faults.wasm"))
	if err != nil {
		f.Fatal(err)
	}
	window, err := protocol.NewWindow(0)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		defer hangs()()
		if how&2 == 0 {
			b = messages(b, uint64(how>>2))
		}
		ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		poured := make(chan struct{})
		go func() {
			defer close(poured)
			pour(os.NewFile(uintptr(ends[0]), "parent"), b)
		}()
		socket := os.NewFile(uintptr(ends[1]), "worker")
		if how&1 != 0 {
			err = child.Obey(socket)
		} else {
			shared, e := unix.Dup(int(window.File().Fd()))
			if e != nil {
				t.Fatal(e)
			}
			err = child.Serve(socket, os.NewFile(uintptr(shared), "window"))
		}
		if err == nil {
			t.Error("it goes on when its parent is gone")
		}
		<-poured
	})
}
