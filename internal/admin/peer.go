package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
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

// permitted refuses all users but root and that of this process.
func permitted(ctx context.Context) error {
	p, ok := ctx.Value(peerKey{}).(peer)
	if !ok {
		return errors.New("the connection is no Unix socket")
	}
	if p.err != nil {
		return fmt.Errorf("the user at the other end is unknown: %w", p.err)
	}
	if own := os.Geteuid(); p.known && p.uid != 0 && p.uid != own {
		return fmt.Errorf("user %d may not administer this server: only user %d and root may", p.uid, own)
	}
	return nil
}

// actorOf says who sends a request, for the operator.
func actorOf(ctx context.Context) string {
	if p, _ := ctx.Value(peerKey{}).(peer); p.known {
		return fmt.Sprintf("uid %d", p.uid)
	}
	return "admin socket"
}
