package snapshot_test

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

func TestSealWaitsForWhoHasTheFileInHand(t *testing.T) {
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, 4096); err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshot.Seal(uintptr(fd)); !errors.Is(err, unix.EBUSY) {
		t.Errorf("while it is mapped: got %v, want %v", err, unix.EBUSY)
	}
	sealed := make(chan error)
	go func() { sealed <- snapshot.Seal(uintptr(fd)) }()
	if err := unix.Munmap(mapped); err != nil {
		t.Fatal(err)
	}
	if err := <-sealed; err != nil {
		t.Error(err)
	}
	if _, err := unix.Pwrite(fd, []byte("x"), 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("a write to what is sealed: got %v, want %v", err, unix.EPERM)
	}
}
