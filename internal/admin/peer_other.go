//go:build !linux

package admin

import "net"

// peerOf finds nothing out: the permissions of the socket decide.
func peerOf(*net.UnixConn) peer { return peer{} }
