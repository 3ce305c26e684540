package link_test

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker/link"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol/protocoltest"
	"github.com/wasmres/wasmres/runtime/limits"
)

// The parent finds a lie in the pipe when it sends a call that waits behind another. Then both calls end at once, although
// the parent reads what the worker never writes.
func TestALieInAPipeEndsTheCallsOfItsLink(t *testing.T) {
	defer hangs()()
	leavesNothing(t)
	lied := make(chan struct{})
	var links atomic.Int32
	host := &link.Host{Link: func(socket, window *os.File) {
		defer socket.Close()
		defer window.Close()
		if links.Add(1) == 1 {
			lie(socket, window)
			close(lied)
			_, _ = io.Copy(io.Discard, socket)
		}
	}}
	m := load(t, host, provider.Config{Limits: limits.Limits{Timeout: patience}}, 1<<abi.OpRead)
	call := func() error {
		_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, &sink{})
		return err
	}
	first := make(chan error)
	go func() { first <- call() }()
	<-lied
	if err := call(); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("the second call: got %v, want unavailable", err)
	}
	var lost *link.LostError
	if err := <-first; !errors.As(err, &lost) || lost.Overdue || !errors.Is(err, protocol.ErrViolation) {
		t.Errorf("the first call: got %v by %+v, want a violation before its deadline", err, lost)
	}
}

// lie makes the parent use the pipes of a link, and says that the worker has read what the parent never wrote. It returns when
// the parent reads the pipe.
func lie(socket, window *os.File) {
	pipe := newPipeWriter(window)
	defer pipe.close()
	pipe.word(tailToWorker).Store(1)
	_, _ = socket.Write(protocoltest.Header(0, protocol.KindSwitch, 0))
	for pipe.word(asleepToParent).Load() == 0 {
		runtime.Gosched()
	}
}
