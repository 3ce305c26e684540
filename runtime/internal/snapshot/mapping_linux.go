package snapshot

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A mapping is the address range of one memory: a private mapping of the image's file, and of anonymous memory after it. Only
// pages that were written cost memory.
type mapping struct {
	mem     []byte // as much as the memory may grow to
	span    uint64 // bytes of address space; more than mem has if bytes after the memory must fault
	exposed uint64 // bytes of mem that can be accessed
	scanner pageScanner
	own     extents // the private pages within the image that the last restore has kept
}

const (
	protection = unix.PROT_READ | unix.PROT_WRITE
	mapFlags   = unix.MAP_PRIVATE | unix.MAP_NORESERVE
)

// newMapping reserves limit bytes, which begin with the backing, if there is one. With a span it reserves that, and bytes after
// the backing cannot be accessed: see expose.
func newMapping(limit, span uint64, m *backing, method Method) (*mapping, error) {
	length := max(limit, pageSize) // the kernel refuses a length of 0
	exposed, access := length, protection
	if span > 0 {
		exposed, access = 0, unix.PROT_NONE
	}
	span = max(span, length)
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(span), access, mapFlags|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space: %w", span, err)
	}
	s := &mapping{
		mem: unsafe.Slice((*byte)(base), length), span: span, exposed: exposed, scanner: newPageScanner(method), own: newExtents(method),
	}
	if err := s.begin(m); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// begin maps or copies the backing over the beginning. MAP_FIXED replaces a part of this mapping.
func (s *mapping) begin(m *backing) error {
	// On hosts with huge pages for all memory, one byte after the image would take 2 MiB. On others this is an error.
	_ = unix.Madvise(s.mem, unix.MADV_NOHUGEPAGE)
	switch {
	case m == nil:
	case m.fd < 0:
		if err := s.expose(uint64(len(m.bytes))); err != nil {
			return err
		}
		copy(s.mem, m.bytes)
	default:
		_, err := unix.MmapPtr(m.fd, 0, unsafe.Pointer(&s.mem[0]), uintptr(len(m.bytes)), protection, mapFlags|unix.MAP_FIXED)
		if err != nil {
			return fmt.Errorf("map the image: %w", err)
		}
		s.exposed = max(s.exposed, uint64(len(m.bytes)))
	}
	return nil
}

// expose makes the first size bytes accessible. In a mapping with a span, accesses to the bytes after them fault.
func (s *mapping) expose(size uint64) error {
	if s.span == uint64(len(s.mem)) || size == s.exposed {
		return nil
	}
	part, access := s.mem[min(size, s.exposed):max(size, s.exposed)], unix.PROT_NONE
	if size > s.exposed {
		access = protection
	}
	if err := unix.Mprotect(part, access); err != nil {
		return fmt.Errorf("expose %d bytes: %w", size, err)
	}
	s.exposed = size
	return nil
}

// reserved returns how much address space the memory has, of which all after its size faults; zero for none.
func (s *mapping) reserved() uint64 {
	if s.span == uint64(len(s.mem)) {
		return 0
	}
	return s.span
}

// slice returns the first size bytes, without further capacity.
func (s *mapping) slice(size uint64) []byte { return s.mem[:size:size] }

// restore resets the first used bytes to the image followed by zeros, and returns the bytes of private pages that
// remain in each part. Bytes after used must never have been written.
func (s *mapping) restore(method Method, image []byte, used uint64) (inImage, inTail uint64, err error) {
	r := restorer{mem: s.mem[:used], image: image, own: &s.own}
	s.own.clear()
	switch method {
	case Watch, Scan:
		err = s.scanner.scan(&r)
	case Pagemap:
		err = s.scanner.pagemap(&r)
	case Drop:
		err = advise(r.mem, unix.MADV_DONTNEED)
	default:
		err = errors.ErrUnsupported
	}
	if err != nil {
		return 0, 0, err
	}
	s.own.complete = r.inImage <= keepImage && !s.own.over
	if from, to := r.densestRun(); from < to {
		err = advise(r.mem[from:to], unix.MADV_DONTNEED)
	}
	return r.inImage, r.inTail, err
}

// restoreTracked restores the private pages that the last restore has found, if all are known.
func (s *mapping) restoreTracked(image []byte) bool {
	if !s.own.complete {
		return false
	}
	for _, e := range s.own.list {
		copy(s.mem[e.start:e.end], image[e.start:e.end])
	}
	return true
}

// drop discards all private pages.
func (s *mapping) drop() error {
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

func (s *mapping) close() error {
	mem := s.mem
	s.mem = nil
	return unix.MunmapPtr(unsafe.Pointer(&mem[0]), uintptr(s.span))
}
