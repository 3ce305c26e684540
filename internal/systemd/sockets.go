package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/coreos/go-systemd/v22/activation"
)

// maxSockets bounds how many sockets a process takes.
const maxSockets = 64

// A Socket is a listener that the manager has opened before it started the server. The caller of [Sockets] closes it.
type Socket struct {
	Name string // FileDescriptorName= of its unit; "unknown" where it has none
	net.Listener
}

// Sockets takes the sockets that the manager passes to this process, in the order of their units; none where it passes
// none. They are listeners of streams: TCP or Unix. Child processes get neither them nor the variables that name them.
// Call it once, before child processes are started.
func Sockets() ([]Socket, error) {
	if n, err := strconv.Atoi(os.Getenv("LISTEN_FDS")); err == nil && n > maxSockets {
		return nil, fmt.Errorf("LISTEN_FDS is %d: at most %d sockets can be passed", n, maxSockets)
	}
	var sockets []Socket
	var errs []error
	for _, f := range activation.Files(true) {
		l, err := net.FileListener(f) // a copy
		errs = append(errs, f.Close())
		if err != nil {
			errs = append(errs, fmt.Errorf("socket %q of the service manager: %w: it must be a listening stream", f.Name(), err))
			continue
		}
		sockets = append(sockets, Socket{f.Name(), l})
	}
	if err := errors.Join(errs...); err != nil {
		for _, s := range sockets {
			err = errors.Join(err, s.Close())
		}
		return nil, err
	}
	return sockets, nil
}

// Named returns the sockets of a name, and the others.
func Named(sockets []Socket, name string) (named, others []Socket) {
	for _, s := range sockets {
		if s.Name == name {
			named = append(named, s)
		} else {
			others = append(others, s)
		}
	}
	return named, others
}
