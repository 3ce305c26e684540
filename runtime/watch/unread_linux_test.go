package watch_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/watch"
)

// asOther calls do with the rights that other users have to files.
func asOther(t *testing.T, do func()) {
	t.Helper()
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if os.Geteuid() == 0 {
		if err := unix.Setfsuid(nobody); err != nil {
			t.Fatal(err)
		}
		defer unix.Setfsuid(0)
	}
	do()
}

func TestFoldersThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "open/a")
	write(t, dir, "shut/a")
	for folder, mode := range map[string]fs.FileMode{filepath.Dir(dir): 0o755, dir: 0o755, dir + "/open": 0o755, dir + "/shut": 0} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir+"/shut", 0o700) })
	asOther(t, func() {
		if w, err := watch.Open(t.Context(), watch.Config{Folder: dir}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v, %v, want that a folder cannot be read", w, err)
		}
	})
	var w *watch.Watcher
	asOther(t, func() { w = open(t, watch.Config{Folder: dir, All: true}) })
	for _, want := range []error{fs.ErrPermission, nil} { // it is said once
		write(t, dir, "open/b")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		change, err := w.Next(ctx)
		cancel()
		if change == nil || !errors.Is(err, want) {
			t.Errorf("got %v, %v, want a change and %v", change, err, want)
		}
	}
}
