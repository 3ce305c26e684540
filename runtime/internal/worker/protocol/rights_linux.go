package protocol

import (
	"os"

	"golang.org/x/sys/unix"
)

// keepFiles stores the descriptors that came with the bytes read. Closing the socket closes unexpected ones.
func (s *socket) keepFiles() error {
	files, err := received(s.control[:s.in.Controllen])
	s.mu.Lock()
	s.files = append(s.files, files...)
	came := len(s.files)
	s.mu.Unlock()
	switch {
	case err != nil:
	case s.maxFiles == 0:
		err = Errorf("files came where none are expected")
	case s.in.Flags&unix.MSG_CTRUNC != 0 || came > s.maxFiles:
		err = Errorf("more than %d files came at once", s.maxFiles)
	}
	return err
}

func (s *socket) takeFiles() []*os.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := s.files
	s.files = nil
	return files
}

// received wraps every descriptor in control, also after an error, so that none is lost.
func received(control []byte) (files []*os.File, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, Errorf("control data: %v", err)
	}
	for i := range messages {
		fds, e := unix.ParseUnixRights(&messages[i])
		if e != nil {
			err = Errorf("control data: %v", e)
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, err
}
