package fscap_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
)

// specials makes a FIFO, a socket and, where the test may, a device in dir, and gives their names.
func specials(t *testing.T, dir string) []string {
	t.Helper()
	names := []string{"fifo", "socket"}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	err = unix.Mknod(filepath.Join(dir, "null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
	if err == nil {
		names = append(names, "null")
	} else if !errors.Is(err, unix.EPERM) {
		t.Fatal(err)
	}
	return names
}

// opens counts how often any process opens the files, until the function is called.
func opens(t *testing.T, files []string) func() int {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	for _, file := range files {
		if _, err := unix.InotifyAddWatch(fd, file, unix.IN_OPEN); err != nil {
			t.Fatal(err)
		}
	}
	return func() int {
		b := make([]byte, 64<<10)
		n, err := unix.Read(fd, b)
		if errors.Is(err, unix.EAGAIN) {
			return 0
		}
		if err != nil {
			t.Fatal(err)
		}
		return n / unix.SizeofInotifyEvent
	}
}

// blockedWriter opens a FIFO for writing, which waits for a reader. It returns once the thread that does so sleeps, and
// gives the result of writing to the FIFO.
func blockedWriter(t *testing.T, fifo string) <-chan error {
	t.Helper()
	result, thread := make(chan error, 1), make(chan int)
	go func() {
		goruntime.LockOSThread()
		thread <- unix.Gettid()
		fd, err := unix.Open(fifo, unix.O_WRONLY, 0)
		if err == nil {
			_, err = unix.Write(fd, []byte("for the reader"))
			_ = unix.Close(fd)
		}
		result <- err
	}()
	call := fmt.Appendf(nil, "%d ", unix.SYS_OPENAT)
	file := fmt.Sprintf("/proc/self/task/%d/", <-thread)
	for began := time.Now(); ; {
		now, err := os.ReadFile(file + "syscall")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(now, call) {
			return result
		}
		if time.Since(began) > 20*time.Second {
			t.Fatalf("the writer does not wait: %s", now)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestOnlyFilesAndDirectoriesAreOpened(t *testing.T) {
	for name, access := range map[string]fscap.Access{"read only": fscap.ReadOnly, "read and write": fscap.ReadWrite, "write only": fscap.WriteOnly} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			names := specials(t, dir)
			var files []string
			for _, name := range names {
				files = append(files, filepath.Join(dir, name))
				link(t, name, filepath.Join(dir, "link-to-"+name))
			}
			s := open(t, fscap.Grant{Host: dir, Access: access})
			opened := opens(t, files)
			written := blockedWriter(t, filepath.Join(dir, "fifo"))
			for _, name := range names {
				for _, path := range []string{"/data/" + name, "/data/" + name + "/below", "/data/link-to-" + name} {
					for _, id := range []abi.Service{abi.ServiceFileStat, abi.ServiceFileRead, abi.ServiceFileList} {
						if _, _, err := call(t, s, id, abi.FileRequest{Path: path}); err == nil {
							t.Errorf("service %d: %s: it is there", id, path)
						}
					}
					if _, _, err := call(t, s, abi.ServiceFileWrite, abi.FileRequest{Path: path, Data: []byte("x"), Appends: true}); err == nil {
						t.Errorf("%s: something was appended", path)
					}
				}
				if _, _, err := call(t, s, abi.ServiceFileWrite, abi.FileRequest{Path: "/data/" + name, Data: []byte("x")}); err == nil {
					t.Errorf("%s was replaced", name)
				}
				if _, _, err := call(t, s, abi.ServiceFileRemove, abi.FileRequest{Path: "/data/" + name}); err == nil {
					t.Errorf("%s was removed", name)
				}
			}
			if page, _, err := call(t, s, abi.ServiceFileList, abi.FileRequest{Path: "/data"}); len(page.Files) > 0 {
				t.Errorf("got %+v, %v", page.Files, err)
			}
			if n := opened(); n > 0 {
				t.Errorf("they were opened %d times", n)
			}
			if got := content(t, dir, "fifo"); got != "for the reader" {
				t.Errorf("the reader that the writer waits for got %q", got)
			}
			if err := <-written; err != nil {
				t.Errorf("the writer got %v", err)
			}
		})
	}
}
