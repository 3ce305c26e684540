package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/internal/filelock"
)

// SocketName is the name of the socket in the folder of a server's data.
const SocketName = "admin.sock"

// maxSocketPath is how long the path of a socket can be, in bytes: sun_path without the NUL at its end.
const maxSocketPath = 107

const dialTime = 2 * time.Second

// ErrInUse says that another server listens on the socket.
var ErrInUse = errors.New("another server listens there")

// Listen listens on a Unix socket of mode 0600. It makes the folder with mode 0700 if there is none, and refuses one that
// other users can write to. It replaces the socket of a server that has ended; ErrInUse is the error if one listens. The
// file goes when the listener is closed.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	l, err := listen(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("admin socket %s: %w", path, err)
	}
	return l, nil
}

func listen(ctx context.Context, path string) (net.Listener, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	unlock, err := filelock.Lock(ctx, path+".lock") // two servers may start at once
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// checkPath refuses a path that no socket can have.
func checkPath(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("the path has %d bytes, and that of a socket at most %d: choose a shorter one", len(path), maxSocketPath)
	}
	if path == "" || path[0] == '@' || path[0] == 0 { // sockets without a file have no permissions
		return errors.New("it must be the path of a file")
	}
	return nil
}

// checkFolder refuses a folder in which other users could replace the socket.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && runtime.GOOS != "windows" { // which has no such modes
		return fmt.Errorf("other users can write to its folder (mode %#o): run chmod 700 %s, or choose another one", mode.Perm(), dir)
	}
	return nil
}

// removeStale removes a socket on which no server listens any more.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return errors.New("there is a file that is no socket: remove it, or choose another path")
	}
	c, err := dial(ctx, path)
	if err == nil {
		return errors.Join(fmt.Errorf("%w: end it, or choose another folder for the data", ErrInUse), c.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("find out whether a server listens there: %w", err)
	}
	return os.Remove(path)
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "unix", path)
}
