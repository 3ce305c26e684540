package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A backing has the bytes of an image. They cannot change.
type backing struct {
	bytes []byte
	fd    int // the sealed file that memories map; -1 with Copy, when bytes are on the heap
}

// newBacking copies memory. All bytes outside of the parts are zero; nil parts are all of memory.
func newBacking(memory []byte, parts []extent, method Method, reserve *Reserve) (*backing, error) {
	if method == Copy || len(memory) == 0 {
		return &backing{bytes: bytes.Clone(memory), fd: -1}, nil
	}
	fd, err := reserve.file()
	if err != nil {
		return nil, err
	}
	if parts == nil {
		parts = []extent{{0, uint64(len(memory))}}
	}
	view, err := fill(fd, memory, parts)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("memfd: %w", err), unix.Close(fd))
	}
	return &backing{bytes: view, fd: fd}, nil
}

// fill writes the parts of memory to the file, seals it and maps it for reading. The view is private since kernels before 6.7
// refuse shared ones of a file sealed against writing; for one that is only read it is the same.
func fill(fd int, memory []byte, parts []extent) (view []byte, err error) {
	if err := unix.Ftruncate(fd, int64(len(memory))); err != nil {
		return nil, err
	}
	for _, p := range parts {
		if err := writeSparse(fd, memory[:p.end], int(p.start)); err != nil {
			return nil, err
		}
	}
	if err := Seal(uintptr(fd)); err != nil {
		return nil, err
	}
	return unix.Mmap(fd, 0, len(memory), unix.PROT_READ, unix.MAP_PRIVATE)
}

// writeSparse writes the runs of pages that are not zero, from an offset on. The others stay holes, which cost nothing until
// they are touched.
func writeSparse(fd int, memory []byte, from int) error {
	page := os.Getpagesize()
	zero := make([]byte, page)
	isZero := func(at int) bool { return bytes.Equal(memory[at:at+page], zero) }
	for at := from; at < len(memory); at += page {
		if isZero(at) {
			continue
		}
		start := at
		for at += page; at < len(memory) && !isZero(at); at += page {
		}
		if err := writeAll(fd, memory[start:at], int64(start)); err != nil {
			return err
		}
	}
	return nil
}

func writeAll(fd int, p []byte, at int64) error {
	for len(p) > 0 {
		n, err := unix.Pwrite(fd, p, at)
		if err != nil && err != unix.EINTR {
			return err
		}
		if n > 0 {
			p, at = p[n:], at+int64(n)
		}
	}
	return nil
}

func (m *backing) close() error {
	if m.fd < 0 {
		return nil
	}
	return errors.Join(unix.Munmap(m.bytes), unix.Close(m.fd))
}
