package process

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// maxForkMessage bounds a message between this process and its fork server, in bytes.
	maxForkMessage = 64 << 10
	// maxForkFiles bounds the descriptors that go with one.
	maxForkFiles = 64
)

// A forkRequest has a child started. With it go descriptors: the child's folder, and its own from 0 on.
type forkRequest struct {
	Name       []byte   `json:"name"` // in JSON texts would have to be UTF-8
	Env        [][]byte `json:"env"`
	Namespaces kinds    `json:"namespaces"`
}

// An order is a [forkRequest] as the parent sends it.
type order struct {
	text  []byte
	files []*os.File
	sent  bool // perhaps
}

// newForkOrder writes an order, to be closed, if it is one that can be sent.
func newForkOrder(name string, attr *os.ProcAttr, own kinds) (*order, error) {
	o := forkRequest{Name: []byte(name), Namespaces: own}
	for _, variable := range attr.Env {
		o.Env = append(o.Env, []byte(variable))
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if len(text) > maxForkMessage || len(attr.Files) >= maxForkFiles {
		return nil, errors.New("too much for a fork server")
	}
	dir, err := os.OpenFile(attr.Dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &order{text: text, files: append([]*os.File{dir}, attr.Files...)}, nil
}

func (o *order) close() { _ = o.files[0].Close() } // is only looked through

// A forkResult answers an order.
type forkResult struct {
	PID int    `json:"pid,omitempty"`
	Err string `json:"err,omitempty"`
}

// socketPair returns our end of a connection that keeps messages apart, and the one to hand on.
func socketPair() (*net.UnixConn, *os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	ours, err := connect(os.NewFile(uintptr(pair[0]), "socket"))
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return ours, theirs, nil
}

// connect makes a connection of the end of a pair, which it takes over.
func connect(end *os.File) (*net.UnixConn, error) {
	defer end.Close()
	conn, err := net.FileConn(end)
	if err != nil {
		return nil, err
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("not a unix socket"), conn.Close())
	}
	return unixConn, nil
}

// send sends a message, with descriptors that remain the caller's.
func send(conn *net.UnixConn, text []byte, files []*os.File) error {
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	_, _, err := conn.WriteMsgUnix(text, rights, nil)
	return err
}

// receive receives a message, and the descriptors that came with it. It gives io.EOF when the other end is gone.
func receive(conn *net.UnixConn, message any) (fds []int, err error) {
	text, rights := make([]byte, maxForkMessage), make([]byte, unix.CmsgSpace(4*maxForkFiles))
	n, m, flags, _, err := conn.ReadMsgUnix(text, rights)
	if err != nil {
		return nil, err
	}
	controls, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil {
		return nil, err
	}
	for _, c := range controls {
		more, err := unix.ParseUnixRights(&c)
		if err != nil {
			return fds, err
		}
		fds = append(fds, more...)
	}
	switch {
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		return fds, io.ErrUnexpectedEOF
	case n == 0:
		return fds, io.EOF
	}
	return fds, json.Unmarshal(text[:n], message)
}
