package snapshot

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A space is the address range of one memory: a private mapping of the image's file and, behind it, of nothing. What
// was never written costs nothing, whatever the length.
type space struct {
	mem  []byte // all of it
	find finder
	own  extents // the private pages within the image that the last restore has left in place
}

const (
	protection = unix.PROT_READ | unix.PROT_WRITE
	mapping    = unix.MAP_PRIVATE | unix.MAP_NORESERVE
)

// newSpace reserves limit bytes that begin as the master, if there is one.
func newSpace(limit uint64, m *master, method Method) (*space, error) {
	length := max(limit, pageSize) // the kernel maps nothing of no length
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(length), protection, mapping|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes: %w", length, err)
	}
	s := &space{mem: unsafe.Slice((*byte)(base), length), find: newFinder(method), own: newExtents(method)}
	if err := s.begin(m); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// begin maps or copies the master over the beginning. MAP_FIXED replaces what is there, which is this space's own.
func (s *space) begin(m *master) error {
	// On hosts where huge pages are for all, one byte behind the image would take 2 MiB. Without them it is an error.
	_ = unix.Madvise(s.mem, unix.MADV_NOHUGEPAGE)
	switch {
	case m == nil:
	case m.fd < 0:
		copy(s.mem, m.bytes)
	default:
		_, err := unix.MmapPtr(m.fd, 0, unsafe.Pointer(&s.mem[0]), uintptr(len(m.bytes)), protection, mapping|unix.MAP_FIXED)
		if err != nil {
			return fmt.Errorf("map the image: %w", err)
		}
	}
	return nil
}

// slice gives the first size bytes, with no capacity behind them.
func (s *space) slice(size uint64) []byte { return s.mem[:size:size] }

// restore makes the first used bytes the image, followed by zeros, and says how many bytes of private pages it has left
// in place in either part. What is behind them must never have been written.
func (s *space) restore(method Method, image []byte, used uint64) (inImage, inTail uint64, err error) {
	r := repair{mem: s.mem[:used], image: image, own: &s.own}
	s.own.clear()
	switch method {
	case Watch, Scan:
		err = s.find.scan(&r)
	case Pagemap:
		err = s.find.pagemap(&r)
	case Drop:
		err = advise(r.mem, unix.MADV_DONTNEED)
	default:
		err = errors.ErrUnsupported
	}
	if err != nil {
		return 0, 0, err
	}
	s.own.complete = r.inImage <= keepImage && !s.own.over
	if from, to := r.crowded(); from < to {
		err = advise(r.mem[from:to], unix.MADV_DONTNEED)
	}
	return r.inImage, r.inTail, err
}

// restoreKnown makes the image again of the private pages that the last restore has found, if all are known.
func (s *space) restoreKnown(image []byte) bool {
	if !s.own.complete {
		return false
	}
	for _, e := range s.own.list {
		copy(s.mem[e.start:e.end], image[e.start:e.end])
	}
	return true
}

// drop forgets whatever was written to any page.
func (s *space) drop() error {
	s.own.clear()
	return advise(s.mem, unix.MADV_DONTNEED)
}

func advise(b []byte, advice int) error {
	if len(b) == 0 {
		return nil
	}
	if err := unix.Madvise(b, advice); err != nil {
		return fmt.Errorf("madvise: %w", err)
	}
	return nil
}

func (s *space) close() error {
	mem := s.mem
	s.mem = nil
	return unix.MunmapPtr(unsafe.Pointer(&mem[0]), uintptr(len(mem)))
}
