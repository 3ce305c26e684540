//go:build !linux

package protocol

import (
	"errors"
	"os"
	"sync/atomic"
)

// A socket is not supported on this system.
type socket struct{ isShutdown atomic.Bool }

func pair(bool) (ours, theirs *os.File, err error) { return nil, nil, errors.ErrUnsupported }

func (*socket) usePoller(*os.File) error { return errors.ErrUnsupported }

func (*socket) open(f *os.File, _ int) error {
	f.Close()
	return errors.ErrUnsupported
}

func (*socket) read([]byte) (int, error) { return 0, errors.ErrUnsupported }

func (*socket) waiting() bool { return true }

func (*socket) write([]byte) error { return errors.ErrUnsupported }

func (*socket) writeFiles([]byte, []*os.File) (int, error) { return 0, errors.ErrUnsupported }

func (*socket) takeFiles() []*os.File { return nil }

func (*socket) enter() bool { return false }

func (*socket) leave() error { return nil }

func (*socket) ring() error { return errors.ErrUnsupported }

func (*socket) shutdown() {}

func (*socket) close() error { return nil }
