package child_test

import (
	"os"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/worker/child"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol/protocoltest"
)

// patience is how long a test waits for what should happen at once: the machine may be busy.
const patience = time.Minute

// FuzzWorker finds that a worker ends its connections whatever its parent sends.
func FuzzWorker(f *testing.F) {
	call := &protocol.Call{Seq: 1, Op: abi.OpRead, Timeout: time.Second, Session: "s", Request: (&abi.Request{URI: "x:o"}).Append(nil)}
	fault := func(uri string) *protocol.Call {
		return &protocol.Call{Op: abi.OpRead, Timeout: time.Hour, Request: (&abi.Request{URI: uri}).Append(nil)}
	}
	for _, seed := range [][]byte{
		nil, protocoltest.Seed(call, call), protocoltest.Seed(fault("x:l"), &protocol.Credit{Bytes: 1 << 18}, fault("x:k"), fault("x:n")), protocoltest.Seed(fault("x:e"), fault("x:u"), &protocol.Answer{Code: 3}),
		protocoltest.Seed(&protocol.Answer{}, call), protocoltest.Seed(&protocol.Cancel{Link: 1, Seq: 1}, protocoltest.Raw{K: protocol.KindEndSession, Payload: []byte("s")}, &protocol.NewLink{ID: 3}), protocoltest.Seed(&protocol.Credit{Bytes: 1}, call),
		protocoltest.Seed(&protocol.Call{Op: 99, Timeout: 1}), protocoltest.Seed(&protocol.Call{Op: abi.OpList, Timeout: -1}), protocoltest.Seed(protocoltest.Raw{K: protocol.KindStart, Payload: []byte("{}")}),
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(1))
		f.Add(protocoltest.Messages(seed, 0), uint8(2))
	}
	faults, err := os.ReadFile("../../../../testdata/wasm/faults.wasm")
	if err != nil {
		f.Fatal(err)
	}
	e, err := wazero.Open(wazero.Config{})
	if err != nil {
		f.Fatal(err)
	}
	c, err := child.OpenChild(f.Context(), e, limits.Limits{Fuel: 1e6, Timeout: time.Second, Output: 8 << 20}, faults)
	if err != nil {
		f.Fatal(err)
	}
	window, err := protocol.NewWindow(0)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		defer time.AfterFunc(patience, func() { panic("it does not end") }).Stop()
		if how&2 == 0 {
			b = protocoltest.Messages(b, uint64(how>>2))
		}
		ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		poured := make(chan struct{})
		go func() {
			defer close(poured)
			protocoltest.Exchange(os.NewFile(uintptr(ends[0]), "parent"), b)
		}()
		socket := os.NewFile(uintptr(ends[1]), "worker")
		if how&1 != 0 {
			err = c.Control(socket)
		} else {
			shared, e := unix.Dup(int(window.File().Fd()))
			if e != nil {
				t.Fatal(e)
			}
			err = c.Serve(socket, os.NewFile(uintptr(shared), "window"))
		}
		if err == nil {
			t.Error("it goes on when its parent is gone")
		}
		<-poured
	})
}
