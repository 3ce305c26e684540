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
	// maxForkFiles bounds the descriptors that come with a message.
	maxForkFiles = 64
)

// A forkRequest asks for a child. Descriptors come with it: the child's working directory, then its own from 0 on.
type forkRequest struct {
	Name       []byte   `json:"name"` // bytes, since JSON texts must be UTF-8
	Env        [][]byte `json:"env"`
	Namespaces kinds    `json:"namespaces"`
}

// An order is a [forkRequest] as the parent sends it.
type order struct {
	text  []byte
	files []*os.File
	sent  bool // perhaps
}

// newForkOrder makes an order, which the caller closes. It fails for a request that cannot be sent.
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

func (o *order) close() { _ = o.files[0].Close() } // the working directory

// A forkResult answers an order.
type forkResult struct {
	PID int    `json:"pid,omitempty"`
	Err string `json:"err,omitempty"`
}

// socketPair returns this process's end of a connection that preserves message boundaries, and the end for another
// process.
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

// connect makes a connection of one end of a pair. It owns the file from then on.
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

// send sends a message with descriptors, which the caller still owns.
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

// receive receives a message and its descriptors. It returns io.EOF when the other end is closed.
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
