//go:build !linux

package protocol

import (
	"errors"
	"os"
)

// A Window cannot be made here.
type Window struct{}

// NewWindow returns [errors.ErrUnsupported].
func NewWindow(size int) (*Window, error) {
	if err := checkWindow(int64(size)); size != 0 && err != nil {
		return nil, err
	}
	return nil, errors.ErrUnsupported
}

// File is the file for the worker.
func (*Window) File() *os.File { return nil }

// Size is in bytes.
func (*Window) Size() int { return 0 }

// Trim returns the memory of the window back to the system.
func (*Window) Trim() error { return errors.ErrUnsupported }

// Close releases the parent's side.
func (*Window) Close() error { return nil }

func (*Window) read([]byte, int) error { return errors.ErrUnsupported }

// A Mapping cannot be made here.
type Mapping struct{ bytes []byte }

// OpenWindow returns [errors.ErrUnsupported].
func OpenWindow(f *os.File) (*Mapping, error) {
	f.Close()
	return nil, errors.ErrUnsupported
}

// Size is in bytes.
func (m *Mapping) Size() int { return len(m.bytes) }

// Close unmaps the window.
func (*Mapping) Close() error { return nil }
