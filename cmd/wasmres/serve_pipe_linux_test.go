package main

import (
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/serve"
)

// A blocking pipe can be read with a deadline, which needs the poller. It stays blocking for other processes that share it.
func TestAPipeIsPolled(t *testing.T) {
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "out")
	defer r.Close()
	defer w.Close()
	in := serve.Pollable(r)
	defer in.(io.Closer).Close()
	if err := in.(*os.File).SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Error(err)
	}
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fds[0]), syscall.F_GETFL, 0)
	if errno != 0 || flags&syscall.O_NONBLOCK != 0 {
		t.Errorf("the pipe itself has flags %#x, %v", flags, errno)
	}
	if _, err := w.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 10)
	if n, err := in.Read(got); string(got[:n]) != "text" || err != nil {
		t.Errorf("got %q, %v", got[:n], err)
	}
}

// A file that is not a pipe is returned as it is.
func TestAFileIsNotPolled(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := serve.Pollable(f); got != io.Reader(f) {
		t.Errorf("got %v, want the file itself", got)
	}
}
