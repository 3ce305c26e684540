//go:build !linux

package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	goruntime "runtime"
)

// A backing has the bytes of an image. No code changes them.
type backing struct{ bytes []byte }

func newBacking(memory []byte, _ []extent, method Method, _ *Reserve) (*backing, error) {
	if method != Copy {
		return nil, fmt.Errorf("%v on %s: %w", method, goruntime.GOOS, errors.ErrUnsupported)
	}
	return &backing{bytes: bytes.Clone(memory)}, nil
}

func (*backing) close() error { return nil }

func prepare(Method) error { return nil }

// faults is not called with Copy.
func faults() int64 { return 0 }

// A Reserve is empty on this system.
type Reserve struct{}

// NewReserve makes a Reserve.
func NewReserve() (*Reserve, error) { return &Reserve{}, nil }

// Close does nothing.
func (*Reserve) Close() error { return nil }

// A mapping is a memory on the heap of Go, where an old view cannot fault. It moves when it grows.
type mapping struct {
	mem   []byte
	limit uint64
}

func newMapping(limit, span uint64, m *backing, _ Method) (*mapping, error) {
	if span > 0 {
		return nil, fmt.Errorf("memory that faults, on %s: %w", goruntime.GOOS, errors.ErrUnsupported)
	}
	s := &mapping{mem: []byte{}, limit: limit}
	if m != nil {
		s.mem = append(s.mem, m.bytes...)
	}
	return s, nil
}

// slice returns the first size bytes, without further capacity.
func (s *mapping) slice(size uint64) []byte {
	if have := uint64(len(s.mem)); size > have {
		grown := make([]byte, min(max(size, 2*have), s.limit))
		copy(grown, s.mem)
		s.mem = grown
	}
	return s.mem[:size:size]
}

func (*mapping) expose(uint64) error { return nil }

func (*mapping) reserved() uint64 { return 0 }

func (*mapping) restore(Method, []byte, uint64) (inImage, inTail uint64, err error) {
	return 0, 0, errors.ErrUnsupported
}

func (*mapping) touched(uint64) []extent { return nil }

func (*mapping) restoreTracked([]byte) bool { return false }

func (*mapping) drop() error { return errors.ErrUnsupported }

func (s *mapping) close() error {
	s.mem = nil
	return nil
}
