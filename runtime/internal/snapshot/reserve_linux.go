package snapshot

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// imageName is that of the files of images.
const imageName = "wasmres-image"

// A Reserve has the system resources, besides address space, for one image and its memories. It is for processes that
// can no longer open files when they make the image. It is safe for concurrent use.
type Reserve struct {
	mu sync.Mutex // guards the field below
	fd int        // of an empty file; -1 when there is none, or it was taken
}

// NewReserve acquires the resources. The caller closes the Reserve.
func NewReserve() (*Reserve, error) {
	method, err := choose(Quickest)
	if err != nil {
		return nil, fmt.Errorf("reserve: %w", err)
	}
	if method == Copy {
		return &Reserve{fd: -1}, nil
	}
	fd, err := Memfd(imageName)
	if err != nil {
		return nil, fmt.Errorf("reserve: %w", err)
	}
	return &Reserve{fd: fd}, nil
}

// take returns the file to the caller, if there is one.
func (r *Reserve) take() (fd int, ok bool) {
	if r == nil {
		return -1, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fd, r.fd = r.fd, -1
	return fd, fd >= 0
}

// file returns an empty file for an image.
func (r *Reserve) file() (fd int, err error) {
	if fd, ok := r.take(); ok {
		return fd, nil
	}
	return Memfd(imageName)
}

// Close releases what no image has taken. It is idempotent.
func (r *Reserve) Close() error {
	fd, ok := r.take()
	if !ok {
		return nil
	}
	return unix.Close(fd)
}
