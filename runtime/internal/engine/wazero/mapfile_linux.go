package wazero

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapFile maps a file over p, which is all of a mapping, to be read and run. After an error p is as before.
func mapFile(p []byte, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != int64(len(p)) || uintptr(unsafe.Pointer(&p[0]))%uintptr(os.Getpagesize()) != 0 {
		return fmt.Errorf("the file of the native code has %d bytes, and the code %d at %p", info.Size(), len(p), &p[0])
	}
	const flags = unix.MAP_PRIVATE | unix.MAP_FIXED | unix.MAP_POPULATE
	_, err = unix.MmapPtr(int(f.Fd()), 0, unsafe.Pointer(&p[0]), uintptr(len(p)), unix.PROT_READ|unix.PROT_EXEC, flags)
	return os.NewSyscallError("mmap", err)
}

// forget releases the pages of a mapping of mapFile, which the kernel takes from the file again when they are used.
func forget(p []byte) { _ = unix.Madvise(p, unix.MADV_DONTNEED) } // failing only costs memory
