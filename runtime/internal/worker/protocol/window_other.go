//go:build !linux

package protocol

import (
	"errors"
	"os"
)

// A Window is not supported on this system.
type Window struct{}

// NewWindow returns [errors.ErrUnsupported].
func NewWindow(size int) (*Window, error) {
	if err := checkWindow(int64(size)); size != 0 && err != nil {
		return nil, err
	}
	return nil, errors.ErrUnsupported
}

// File returns nil.
func (*Window) File() *os.File { return nil }

// Size returns 0.
func (*Window) Size() int { return 0 }

// Trim returns [errors.ErrUnsupported].
func (*Window) Trim() error { return errors.ErrUnsupported }

// Close does nothing.
func (*Window) Close() error { return nil }

func (*Window) read([]byte, int) error { return errors.ErrUnsupported }

// A Mapping is not supported on this system.
type Mapping struct{ bytes []byte }

// OpenWindow returns [errors.ErrUnsupported].
func OpenWindow(f *os.File) (*Mapping, error) {
	f.Close()
	return nil, errors.ErrUnsupported
}

// Close unmaps the window.
func (*Mapping) Close() error { return nil }

// UsePipes returns [errors.ErrUnsupported].
func (*Conn) UsePipes(*Window) error { return errors.ErrUnsupported }

// OfferPipes does nothing.
func (*Conn) OfferPipes(*Mapping) {}
