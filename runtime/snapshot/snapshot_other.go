//go:build !linux

package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	goruntime "runtime"
)

// A master is the bytes of an image, which nobody changes.
type master struct{ bytes []byte }

func newMaster(memory []byte, method Method, _ *Reserve) (*master, error) {
	if method != Copy {
		return nil, fmt.Errorf("%v on %s: %w", method, goruntime.GOOS, errors.ErrUnsupported)
	}
	return &master{bytes: bytes.Clone(memory)}, nil
}

func (*master) close() error { return nil }

func prepare(Method) error { return nil }

// faults is not asked for with Copy.
func faults() int64 { return 0 }

// A Reserve is what one image takes of the system: nothing, here.
type Reserve struct{}

// NewReserve acquires it.
func NewReserve() (*Reserve, error) { return &Reserve{}, nil }

// Close does nothing.
func (*Reserve) Close() error { return nil }

// A space is a memory on Go's heap, where a stale view can never fault. It grows by moving.
type space struct {
	mem   []byte
	limit uint64
}

func newSpace(limit uint64, m *master, _ Method) (*space, error) {
	s := &space{mem: []byte{}, limit: limit}
	if m != nil {
		s.mem = append(s.mem, m.bytes...)
	}
	return s, nil
}

// slice gives the first size bytes, with no capacity behind them.
func (s *space) slice(size uint64) []byte {
	if have := uint64(len(s.mem)); size > have {
		grown := make([]byte, min(max(size, 2*have), s.limit))
		copy(grown, s.mem)
		s.mem = grown
	}
	return s.mem[:size:size]
}

func (*space) restore(Method, []byte, uint64) (inImage, inTail uint64, err error) {
	return 0, 0, errors.ErrUnsupported
}

func (*space) restoreKnown([]byte) bool { return false }

func (*space) drop() error { return errors.ErrUnsupported }

func (s *space) close() error {
	s.mem = nil
	return nil
}
