// Package dbtest starts real database servers for tests: PostgreSQL and MariaDB, as Debian has them.
//
// A server lives in a folder of its own, is reached by a Unix socket there, and ends with the process that started it,
// however that ends. Only tests import it.
package dbtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrMissing is why a server did not start that is not installed.
var ErrMissing = errors.New("not installed")

// patience is how long a server may take to start.
const patience = 2 * time.Minute

// A Server is one that runs.
type Server struct {
	Dir  string // with its socket and its data
	cmd  *exec.Cmd
	life io.Closer // the server ends when this is closed
}

// Close ends the server and removes its folder.
func (s *Server) Close() error {
	_ = s.life.Close()
	_ = s.cmd.Wait() // it is ended by a signal
	return os.RemoveAll(s.Dir)
}

// outlived runs a server until standard input ends, as it does when the process with the other end ends.
const outlived = `"$@" & server=$!; cat >/dev/null; kill -QUIT $server 2>/dev/null; wait $server`

// start runs a program in dir until Close, and waits until it says on standard error that it is ready.
func start(dir, ready string, credential *syscall.Credential, command ...string) (*Server, error) {
	cmd := exec.Command("sh", append([]string{"-c", outlived, "sh"}, command...)...)
	place(cmd, dir, credential)
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := &Server{Dir: dir, cmd: cmd, life: life}
	if err := awaitLine(log, ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(command[0]), err), s.Close())
	}
	return s, nil
}

// awaitLine reads until a line has text, and goes on reading.
func awaitLine(log io.Reader, text string) error {
	found := make(chan error, 1)
	go func() {
		var said []string
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				found <- nil
				_, _ = io.Copy(io.Discard, log)
				return
			}
			said = append(said, lines.Text())
		}
		found <- fmt.Errorf("it ended before it was ready:\n%s", strings.Join(said, "\n"))
	}()
	select {
	case err := <-found:
		return err
	case <-time.After(patience):
		return fmt.Errorf("it was not ready after %v", patience)
	}
}

// place has a program run in dir, and keep its temporary files there: servers of MariaDB remove each other's.
func place(cmd *exec.Cmd, dir string, credential *syscall.Credential) {
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: credential}
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
}

// run runs a program to its end.
func run(credential *syscall.Credential, dir string, command ...string) error {
	cmd := exec.Command(command[0], command[1:]...)
	place(cmd, dir, credential)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(command[0]), err, out)
	}
	return nil
}

// folder makes one that belongs to whom the server runs as: servers refuse root, which becomes the account named.
func folder(account string) (dir string, credential *syscall.Credential, err error) {
	if dir, err = os.MkdirTemp("", "wasmres-db-"); err != nil || os.Getuid() != 0 {
		return dir, nil, err
	}
	u, err := user.Lookup(account)
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(dir))
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return dir, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}

// find returns the path of a program, which may be beside the usual places.
func find(name string, places ...string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, place := range places {
		if all, _ := filepath.Glob(filepath.Join(place, name)); len(all) > 0 {
			return all[len(all)-1], nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, ErrMissing)
}
