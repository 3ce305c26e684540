package admin

import (
	"context"
	"net"
)

// A peer is the user at the other end of a connection.
type peer struct {
	uid   int
	known bool  // false on systems that do not tell, where the permissions of the socket decide
	err   error // why it could not be found out, on systems that tell
}

type peerKey struct{}

// withPeer puts the peer of a connection into its context.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if b, ok := c.(*boundedConn); ok {
		c = b.Conn
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	return contextWithPeer(ctx, peerOf(u))
}

func contextWithPeer(ctx context.Context, p peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}
