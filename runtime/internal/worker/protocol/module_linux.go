package protocol

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// MemfdOf makes a file in memory with the bytes of b. No process can change it. The caller closes it.
func MemfdOf(b []byte) (*os.File, error) {
	f, err := memfd("wasmres-module")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(b); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := snapshot.Seal(f.Fd()); err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), f.Close())
	}
	return f, nil
}

// NewImageFile makes an empty file in memory for the image of a worker. The caller closes it.
func NewImageFile() (*os.File, error) { return memfd("wasmres-image") }

// Allocated returns how much memory a file of NewImageFile takes, without its holes, in bytes; zero if that is unknown.
func Allocated(f *os.File) int64 {
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return 0
	}
	return stat.Blocks * 512
}

// MapFile maps a file of [MemfdOf] until UnmapFile, without a copy of it.
func MapFile(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	return b, os.NewSyscallError("mmap", err)
}

// UnmapFile ends a mapping of MapFile.
func UnmapFile(b []byte) error { return os.NewSyscallError("munmap", unix.Munmap(b)) }

// memfd makes an empty file in memory that can be sealed.
func memfd(name string) (*os.File, error) {
	fd, err := snapshot.Memfd(name)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}
