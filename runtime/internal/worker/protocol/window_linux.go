package protocol

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const windowSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// A Window is the parent's side of memory shared with one link. Untouched pages cost nothing. The parent does not map
// it: reading copies, by one system call. No process can change its size.
type Window struct {
	file *os.File
	size int
}

// NewWindow makes a window of size bytes, a multiple of the page size from 256 KiB to [MaxWindow]; 0 means
// [DefaultWindow].
func NewWindow(size int) (*Window, error) {
	if size == 0 {
		size = DefaultWindow
	}
	if err := checkWindow(int64(size)); err != nil {
		return nil, err
	}
	f, err := memfd("wasmres-window")
	if err != nil {
		return nil, fmt.Errorf("window: %w", err)
	}
	w := &Window{file: f, size: size}
	if err := w.seal(); err != nil {
		return nil, errors.Join(fmt.Errorf("window: %w", err), w.Close())
	}
	return w, nil
}

func (w *Window) seal() error {
	if err := unix.Ftruncate(int(w.file.Fd()), int64(w.size)+pipesSize); err != nil {
		return err
	}
	_, err := unix.FcntlInt(w.file.Fd(), unix.F_ADD_SEALS, windowSeals)
	return err
}

// File returns the file for the worker. The window closes it.
func (w *Window) File() *os.File { return w.file }

// Size returns the size in bytes.
func (w *Window) Size() int { return w.size }

// Trim returns the memory of the window to the kernel, and discards its contents.
func (w *Window) Trim() error {
	const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	for {
		err := unix.Fallocate(int(w.file.Fd()), punch, 0, int64(w.size))
		if err != unix.EINTR {
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// Close releases the parent's side. The memory remains until the worker releases its side.
func (w *Window) Close() error { return w.file.Close() }

// read fills p, which is within the window, from offset on.
func (w *Window) read(p []byte, offset int) error {
	fd := int(w.file.Fd())
	for len(p) > 0 {
		n, err := unix.Pread(fd, p, int64(offset))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return fmt.Errorf("read window: %w", err)
		case n == 0:
			return fmt.Errorf("read window: %w", io.ErrUnexpectedEOF)
		}
		p, offset = p[n:], offset+n
	}
	return nil
}

// A Mapping is the worker's side of a window.
type Mapping struct {
	all   []byte
	bytes []byte // the window
}

// OpenWindow maps a window. It takes the file, also after an error, and closes it at once: the mapping stays. It
// refuses a file without the seals of [NewWindow].
func OpenWindow(f *os.File) (*Mapping, error) {
	defer f.Close()
	fd := int(f.Fd())
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil {
		return nil, fmt.Errorf("window: %w", os.NewSyscallError("get seals", err))
	}
	if seals&windowSeals != windowSeals {
		return nil, fmt.Errorf("window: has seals %#x, not those of a window", seals)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, fmt.Errorf("window: %w", os.NewSyscallError("fstat", err))
	}
	size := stat.Size - pipesSize
	if err := checkWindow(size); err != nil {
		return nil, err
	}
	b, err := unix.Mmap(fd, 0, int(stat.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("window: %w", os.NewSyscallError("mmap", err))
	}
	return &Mapping{all: b, bytes: b[:size]}, nil
}

// Close unmaps the window, which must not be in use.
func (m *Mapping) Close() error {
	b := m.all
	if m.all, m.bytes = nil, nil; b == nil {
		return nil
	}
	return unix.Munmap(b)
}
