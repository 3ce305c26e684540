//go:build unix

package takeover

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// duplicate returns a descriptor of a listener or file. It leaves the mode of the socket alone, which all its descriptors share: a server
// that blocks in accept could not stop to accept.
func duplicate(of any) (descriptor int, err error) {
	c, ok := of.(syscall.Conn)
	if !ok {
		return 0, errUnsupported
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if descriptor, failed = syscall.Dup(int(fd)); failed == nil {
			syscall.CloseOnExec(descriptor)
		}
	})
	return descriptor, errors.Join(err, failed)
}

// listenerOf returns the listener of a descriptor, which it closes.
func listenerOf(descriptor int) (net.Listener, error) {
	f := os.NewFile(uintptr(descriptor), "socket")
	if f == nil {
		return nil, os.ErrInvalid
	}
	l, err := net.FileListener(f) // has a copy
	return l, errors.Join(err, f.Close())
}

func closeAll(descriptors []int) {
	for _, d := range descriptors {
		_ = syscall.Close(d)
	}
}

// rightsOf encodes descriptors as the control message of a Unix socket.
func rightsOf(descriptors []int) []byte { return syscall.UnixRights(descriptors...) }

// maxRights is how long a control message may be.
var maxRights = syscall.CmsgSpace(4 * (maxSockets + 1))

// descriptorsOf decodes control messages.
func descriptorsOf(control []byte) (descriptors []int, err error) {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		more, err := syscall.ParseUnixRights(&messages[i])
		descriptors = append(descriptors, more...)
		if err != nil {
			closeAll(descriptors)
			return nil, err
		}
	}
	for _, d := range descriptors {
		syscall.CloseOnExec(d) // where the kernel has not done it
	}
	return descriptors, nil
}

// truncated is the flag of a message whose control message had no room.
const truncated = syscall.MSG_CTRUNC
