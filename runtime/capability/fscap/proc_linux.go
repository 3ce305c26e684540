package fscap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const procMagic = 0x9fa0 // what statfs gives as the type of procfs

// checkProcess gives [fs.ErrNotExist] for a file of procfs about one process, as environ, mem and cmdline: a grant of /proc
// is one of figures of the system, and must not give away the secrets of this process and of others. It does not concern
// the network's figures, nor a grant of the directory of one process. Files of a known size are never of this kind.
func (m *mount) checkProcess(file *os.File, info fs.FileInfo) error {
	if info.Size() > 0 || !info.Mode().IsRegular() {
		return nil
	}
	name, err := procName(file)
	if err != nil || name == "" {
		return err
	}
	if rel, err := filepath.Rel(m.host, name); err == nil {
		name = rel
	}
	elements := strings.Split(name, "/")
	for i, element := range elements[:len(elements)-1] {
		if _, err := strconv.ParseUint(element, 10, 32); err == nil && elements[i+1] != "net" {
			return fs.ErrNotExist
		}
	}
	return nil
}

// procName gives the path of a file of procfs; empty for any other file. It leaves the file non-blocking, which File.Fd
// would not.
func procName(file *os.File) (name string, err error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return "", err
	}
	var stat syscall.Statfs_t
	var failed error
	err = conn.Control(func(fd uintptr) {
		if failed = syscall.Fstatfs(int(fd), &stat); failed == nil && stat.Type == procMagic {
			name, failed = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd)))
		}
	})
	return name, errors.Join(err, failed)
}
