package confine_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/confine"
)

// databaseUses are what a process does with the files of a database: some.db, which it may read, and some.db-shm, which it
// may write.
func databaseUses(dir string) []use {
	open := func(name string, flags int) func(string) error {
		return func(string) error {
			f, err := os.OpenFile(filepath.Join(dir, name), flags, 0o600)
			if err != nil {
				return err
			}
			return f.Close()
		}
	}
	lock := func(string) error {
		f, err := os.Open(filepath.Join(dir, "some.db"))
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart, Len: 1})
	}
	mapped := func(protection int) func(string) error {
		return func(string) error {
			memory, err := unix.Mmap(-1, 0, 4096, protection, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
			if err != nil {
				return err
			}
			return unix.Munmap(memory)
		}
	}
	return []use{
		{"read the database", open("some.db", os.O_RDONLY), 0},
		{"lock the database", lock, 0},
		{"write a file beside it", open("some.db-shm", os.O_RDWR), 0},
		{"map memory", mapped(unix.PROT_READ | unix.PROT_WRITE), 0},
		{"write the database", open("some.db", os.O_RDWR), unix.EACCES},
		{"make a file", open("some.db-wal", os.O_RDWR|os.O_CREATE), unix.EACCES},
		{"read another file", open("other.db", os.O_RDONLY), unix.EACCES},
		{"remove", func(string) error { return unix.Unlink(filepath.Join(dir, "some.db-shm")) }, unix.EPERM},
		{"make code", mapped(unix.PROT_READ | unix.PROT_EXEC), unix.EPERM},
		{"open a socket", func(string) error { return discard(unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)) }, unix.EPERM},
	}
}

func childDatabase(args []string) error {
	dir := args[0]
	_, err := confine.Enter(confine.Profile{
		Memory: 1 << 30, FileSize: 1 << 20, Database: true,
		Read: []string{filepath.Join(dir, "some.db")}, Write: []string{filepath.Join(dir, "some.db-shm")},
	})
	if err != nil {
		return err
	}
	outcomes := map[string]string{}
	for _, u := range databaseUses(dir) {
		err := u.do(dir)
		var errno syscall.Errno
		if errors.As(err, &errno); errno != u.want || (err == nil) != (u.want == 0) {
			outcomes[u.name] = fmt.Sprint(err)
		}
	}
	return tell(outcomes)
}

func TestADatabaseProfile(t *testing.T) {
	machine(t, confine.Landlock, confine.Seccomp)
	dir := t.TempDir()
	for _, name := range []string{"some.db", "some.db-shm", "other.db"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var wrong map[string]string
	child{args: []string{"database", dir}}.run(t, &wrong)
	for name, outcome := range wrong {
		t.Errorf("%s: got %s", name, outcome)
	}
}
