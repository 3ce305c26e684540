package compiler_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
)

// mountEnv marks a test process that may mount.
const mountEnv = "COMPILER_TEST_MOUNT"

// mountable reports whether this process may mount. Else it has run the test in one that may.
func mountable(t *testing.T, dir string) bool {
	t.Helper()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size=64k,nr_inodes=40")
	if err == nil {
		t.Cleanup(func() {
			if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		return true
	}
	if !errors.Is(err, unix.EPERM) || os.Getenv(mountEnv) != "" {
		t.Fatal(err)
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), mountEnv+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	text, err := again.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed), err == nil && !strings.Contains(string(text), "--- PASS: "+t.Name()):
		t.Errorf("in a namespace of its own: %v\n%s", err, text)
	case err != nil:
		t.Skipf("this kernel lets only root mount: %v", err)
	}
	return false
}

// fill makes empty files until there is room for no more.
func fill(t *testing.T, dir string) {
	t.Helper()
	for i := 0; ; i++ {
		err := os.WriteFile(filepath.Join(dir, fmt.Sprint("filler", i)), nil, 0o600)
		if errors.Is(err, unix.ENOSPC) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFullDiskIsNotHeldAgainstTheModule(t *testing.T) {
	leavesNothing(t)
	dir := newDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if !mountable(t, dir) {
		return
	}
	c := newCompiler(t, compiler.Config{CacheDir: dir})
	check(t, dir, c.Compile(t.Context(), functions(5000)), abi.CodeInternal, "no space left")
	fill(t, dir)
	check(t, dir, c.Compile(t.Context(), functions(5000)), abi.CodeInternal, "no space left")
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "mode=0700,size=64m,nr_inodes=1000"); err != nil {
		t.Fatal(err)
	}
	check(t, dir, c.Compile(t.Context(), functions(5000)), abi.CodeOK, "")
	if _, err := os.Stat(entry(t, c, functions(5000))); err != nil {
		t.Error(err)
	}
}
