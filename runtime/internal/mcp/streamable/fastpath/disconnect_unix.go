//go:build unix

package fastpath

import (
	"errors"
	"net"
	"syscall"
)

// isClosed reports whether the client has closed the connection. Bytes that the client has sent before stay unread.
func isClosed(c net.Conn) (closed bool) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		closed = n == 0 && err == nil || err != nil && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	})
	return closed || err != nil
}
