// Package takeover hands the sockets of a server to the process that replaces it. The two speak over a connection of a Unix
// socket: the new process asks for the sockets, makes itself ready, and only then has the old one give up its files. Whatever
// fails before that leaves the old one as it was. If the old process ends before the new one serves, the new one serves all the same:
// with the sockets it has got a pipe whose other end the old process holds for as long as it lives.
package takeover

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
)

// maxSockets bounds how many sockets a server hands over.
const maxSockets = 64

// Sockets are the listeners of a server by their names: those that it has opened, and those of an earlier server. The zero value
// has none. They are safe for concurrent use.
type Sockets struct {
	mu    sync.Mutex
	given []socket // by an earlier server, that nothing has asked for
	used  []socket
	keeps bool // the files of Unix sockets stay when the listeners are closed
}

// A socket is a listener with its name, as in "clients 127.0.0.1:8080". Several may have one name.
type socket struct {
	name string
	net.Listener
}

// Listen returns a listener with that name, of the earlier server if it had one, or else what open opens. The caller closes it.
func (s *Sockets) Listen(name string, open func() (net.Listener, error)) (l net.Listener, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.given, func(g socket) bool { return g.name == name }); i >= 0 {
		l = s.given[i].Listener
		s.given = slices.Delete(s.given, i, i+1)
	} else if l, err = open(); err != nil {
		return nil, err
	}
	s.used = append(s.used, socket{name, l})
	s.setFilesLocked()
	return l, nil
}

// CloseUnused closes the listeners of the earlier server that nothing has asked for, and returns their names.
func (s *Sockets) CloseUnused() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.given {
		names = append(names, g.name)
		_ = g.Close()
	}
	s.given = nil
	return names
}

// Copy returns Sockets with copies of the listeners, as those of an earlier server: both accept on the same sockets. The files of
// Unix sockets go when the listeners of the copy are closed, and no longer with those of s.
func (s *Sockets) Copy() (*Sockets, error) {
	names, files, err := s.duplicate()
	if err != nil {
		return nil, err
	}
	s.keepFiles(true)
	c, err := socketsOf(names, files)
	if err != nil {
		s.keepFiles(false)
		return nil, err
	}
	c.keepFiles(false)
	return c, nil
}

// keepFiles says whether the files of Unix sockets stay when this process closes its listeners, or go.
func (s *Sockets) keepFiles(keeps bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keeps = keeps
	s.setFilesLocked()
}

func (s *Sockets) setFilesLocked() {
	for _, u := range s.used {
		if l, ok := u.Listener.(*net.UnixListener); ok {
			l.SetUnlinkOnClose(!s.keeps)
		}
	}
}

// duplicate returns descriptors of the listeners in use. The caller closes them.
func (s *Sockets) duplicate() (names []string, descriptors []int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if err != nil {
			closeAll(descriptors)
		}
	}()
	if len(s.used) > maxSockets {
		return nil, nil, fmt.Errorf("the server has %d sockets, and can hand over %d: replace it by a restart", len(s.used), maxSockets)
	}
	for _, u := range s.used {
		d, err := duplicate(u.Listener)
		if err != nil {
			return nil, descriptors, fmt.Errorf("socket %s: %w", u.name, err)
		}
		names, descriptors = append(names, u.name), append(descriptors, d)
	}
	return names, descriptors, nil
}

// socketsOf makes Sockets of descriptors, which it closes. The files of Unix sockets stay: they are of another process.
func socketsOf(names []string, descriptors []int) (*Sockets, error) {
	if len(names) != len(descriptors) {
		closeAll(descriptors)
		return nil, fmt.Errorf("%d sockets came with %d names", len(descriptors), len(names))
	}
	s := &Sockets{keeps: true}
	for i, d := range descriptors {
		l, err := listenerOf(d)
		if err != nil {
			closeAll(descriptors[i+1:])
			s.CloseUnused()
			return nil, fmt.Errorf("socket %s: %w", names[i], err)
		}
		s.given = append(s.given, socket{names[i], l})
	}
	return s, nil
}

// String lists the names of the listeners of an earlier server.
func (s *Sockets) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, len(s.given))
	for i, g := range s.given {
		names[i] = g.name
	}
	return strings.Join(names, ", ")
}

var errUnsupported = fmt.Errorf("sockets cannot be handed to another process on this system: %w", errors.ErrUnsupported)
