//go:build unix

package takeover

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// A pipe has two ends.
type pipe struct{ r, w *os.File }

// life is a pipe whose end for writing this process alone has open, for as long as it lives. Connections do not tell as much: a process
// that goes on may close them.
var life = sync.OnceValues(func() (*pipe, error) {
	r, w, err := os.Pipe()
	return &pipe{r, w}, err
})

// lifeOfThis returns a descriptor of which the end is read when this process has ended. The caller closes it.
func lifeOfThis() (descriptor int, err error) {
	p, err := life()
	if err != nil {
		return 0, err
	}
	return duplicate(p.r)
}

// lifeOf returns the file of a descriptor of lifeOfThis, which it owns from now on. The caller closes the file.
func lifeOf(descriptor int) (*os.File, error) {
	if err := syscall.SetNonblock(descriptor, true); err != nil { // so that reading can have a deadline
		return nil, errors.Join(err, syscall.Close(descriptor))
	}
	return os.NewFile(uintptr(descriptor), "life"), nil
}

// hasEnded waits for the end of the process that a file of lifeOf is of, at most for a time, and reports whether it came.
func hasEnded(life *os.File, within time.Duration) bool {
	if err := life.SetReadDeadline(time.Now().Add(within)); err != nil {
		return false
	}
	_, err := life.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}
