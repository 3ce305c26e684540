//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package filelock_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/internal/filelock"
)

// A child that has just been forked has all files open, until it runs its own program. The descriptor that is a copy stands for it.
func TestAClosedLockIsFreeBesideAChild(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	if locked, err := filelock.TryLock(f, true); err != nil || !locked {
		t.Fatalf("got %t, %v", locked, err)
	}
	inherited, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	if err := filelock.Close(f); err != nil {
		t.Fatal(err)
	}
	again := open()
	defer filelock.Close(again)
	if locked, err := filelock.TryLock(again, true); err != nil || !locked {
		t.Errorf("got %t, %v after the lock was closed", locked, err)
	}
}
