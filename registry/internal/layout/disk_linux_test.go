package layout_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/registry/internal/layout"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

func init() { roles["disk"], roles["read"] = fillDisk, readOnly }

// fillDisk mounts a file system of 256 KiB, stores modules there until it is full, and checks the store.
func fillDisk(ctx context.Context, args []string) error {
	if err := mount(args[0], 0, "size=256k"); err != nil {
		return err
	}
	filler := args[0] + "/filler" // what the user removes when the disk is full
	if err := os.WriteFile(filler, make([]byte, 16<<10), 0o600); err != nil {
		return err
	}
	l, err := layout.Open(args[0]+"/store", private)
	if err != nil {
		return err
	}
	defer l.Close()
	r := l.Repository(repository)
	for i := range 100 {
		module := moduleBytes(i+1, 30_000)
		p, err := packModule(module)
		if err != nil {
			return err
		}
		tag := fmt.Sprint("v", i)
		if err := errors.Join(push(ctx, r, p, module), r.Tag(ctx, p.Manifest, tag)); err != nil {
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space") {
				return fmt.Errorf("the error of a full disk is %w", err)
			}
			if i < 3 {
				return fmt.Errorf("the disk is full after %d modules: %w", i, err)
			}
			return checkFullDisk(ctx, l, i, filler)
		}
	}
	return errors.New("the disk is not full")
}

// checkFullDisk checks that n tags are whole, that nothing half is stored, and that another module can be stored after the
// user has removed a file and an image.
func checkFullDisk(ctx context.Context, l *layout.Layout, n int, filler string) error {
	r := l.Repository(repository)
	for i := range n {
		p, err := packModule(moduleBytes(i+1, 30_000))
		if err != nil {
			return err
		}
		if _, err := r.Resolve(ctx, fmt.Sprint("v", i)); err != nil {
			return err
		}
		if got, err := fetch(ctx, r, p.Module); err != nil || !bytes.Equal(got, moduleBytes(i+1, 30_000)) {
			return fmt.Errorf("v%d: %d bytes, %w", i, len(got), err)
		}
	}
	left, err := os.ReadDir(l.Dir() + "/ingest")
	if err != nil || len(left) > 0 {
		return fmt.Errorf("leftovers: %v, %w", left, err)
	}
	d, err := r.Resolve(ctx, "v1")
	if err != nil {
		return err
	}
	release, err := l.Pin(ctx, d)
	if err != nil {
		return err
	}
	release()
	if err := errors.Join(os.Remove(filler), r.Remove(ctx, "v0")); err != nil {
		return err
	}
	time.Sleep(time.Millisecond)
	if _, err := l.Prune(ctx, layout.PruneOptions{Grace: time.Nanosecond}); err != nil {
		return err
	}
	module := moduleBytes(1, 30_000)
	p, err := packModule(module)
	if err != nil {
		return err
	}
	return errors.Join(push(ctx, r, p, module), r.Tag(ctx, p.Manifest, "again"))
}

// readOnly mounts the folder read-only, and reads the store in it.
func readOnly(ctx context.Context, args []string) error {
	if err := syscall.Mount(args[0], args[0], "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("%w: %w", errNoMount, err)
	}
	if err := syscall.Mount("", args[0], "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("%w: %w", errNoMount, err)
	}
	l, err := layout.Open(args[0], private)
	if err != nil {
		return err
	}
	defer l.Close()
	r := l.Repository(repository)
	p, err := packModule(moduleBytes(1, 40_000))
	if err != nil {
		return err
	}
	d, err := r.Resolve(ctx, "v1")
	if err != nil {
		return err
	}
	if exists, err := r.Exists(ctx, d); err != nil || !exists {
		return fmt.Errorf("exists: %v, %w", exists, err)
	}
	release, err := l.Pin(ctx, d)
	if err != nil {
		return err
	}
	defer release()
	if _, err := l.Path(ctx, p.Module); err != nil {
		return err
	}
	err = r.Tag(ctx, d, "v2")
	if !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), args[0]) {
		return fmt.Errorf("a tag in a read-only store: %w", err)
	}
	module := moduleBytes(2, 100)
	if err := r.Push(ctx, oci.DescriptorOf(oci.ModuleType, module), bytes.NewReader(module)); !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("a push to a read-only store: %w", err)
	}
	return nil
}

var errNoMount = errors.New("no mount")

func mount(dir string, flags uintptr, data string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, data); err != nil {
		return fmt.Errorf("%w: %w", errNoMount, err)
	}
	return nil
}

// runMounting runs a child that may mount file systems of its own.
func runMounting(t *testing.T, role, dir string) {
	t.Helper()
	cmd := child(t, role, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || strings.HasPrefix(string(output), errNoMount.Error())) {
		t.Skipf("this system lets no process mount a file system of its own: %v: %s", err, output)
	}
	if err != nil {
		t.Errorf("%v: %s", err, output)
	}
}

func TestAFullDisk(t *testing.T) { runMounting(t, "disk", t.TempDir()) }

func TestAReadOnlyStore(t *testing.T) {
	dir := privateDir(t)
	add(t, open(t, dir, private).Repository(repository), "v1", moduleBytes(1, 40_000))
	runMounting(t, "read", dir)
}
