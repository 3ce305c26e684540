package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// takeoverProtocol is the protocol to which a process upgrades a connection that wants to replace the server. It is none of the
// API: only the socket has it, since only a Unix socket can pass the sockets of the server.
const takeoverProtocol = "wasmres-takeover"

const takeoverTime = 10 * time.Second // for the server to answer

// takeovers passes connections that are upgraded to takeoverProtocol to Config.Takeover, and other requests to next.
func (s *Server) takeovers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != takeoverProtocol {
			next.ServeHTTP(w, r)
			return
		}
		c, err := s.identify(r)
		if err == nil && s.cfg.Takeover == nil {
			err = problem(http.StatusServiceUnavailable, CodeUnavailable, "this server cannot be replaced while it runs")
		}
		if err != nil {
			s.writeProblem(w, r, err)
			return
		}
		occupy(r)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			s.writeProblem(w, r, err)
			return
		}
		defer conn.Close()
		under := conn
		if b, ok := conn.(*boundedConn); ok {
			under = b.Conn
		}
		unix, ok := under.(*net.UnixConn)
		if !ok {
			return
		}
		_ = unix.SetWriteDeadline(time.Now().Add(takeoverTime))
		if _, err := io.WriteString(unix, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+takeoverProtocol+"\r\n\r\n"); err != nil {
			return
		}
		s.cfg.Takeover(unix, c.name)
	})
}

// DialTakeover connects to the server with a socket, for its replacement by package takeover. The server must be of this user or of
// root. ErrUnreachable is in the chain of the error if there is no server. The caller closes the connection.
func DialTakeover(ctx context.Context, socket string) (*net.UnixConn, error) {
	if err := checkPath(socket); err != nil {
		return nil, err
	}
	c, err := dial(ctx, socket)
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w", ErrUnreachable, socket, err)
	}
	unix, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s is no Unix socket", socket), c.Close())
	}
	if err := upgrade(unix); err != nil {
		return nil, errors.Join(fmt.Errorf("ask the server at %s: %w", socket, err), unix.Close())
	}
	return unix, nil
}

func upgrade(c *net.UnixConn) error {
	switch p := peerOf(c); {
	case p.err != nil:
		return p.err
	case p.known && p.uid != 0 && p.uid != os.Geteuid():
		return fmt.Errorf("it is a server of user %d: a server replaces one of its own user", p.uid)
	}
	if err := c.SetDeadline(time.Now().Add(takeoverTime)); err != nil {
		return err
	}
	const request = "POST /v1/takeover HTTP/1.1\r\nHost: wasmres\r\nConnection: Upgrade\r\nUpgrade: " + takeoverProtocol + "\r\nContent-Length: 0\r\n\r\n"
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	in := bufio.NewReader(io.LimitReader(c, maxBody)) // the server says nothing more before it is asked
	answer, err := http.ReadResponse(in, nil)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("it has not answered for %v, and goes on if it still can: look at its log, or restart it", takeoverTime)
	}
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		defer answer.Body.Close()
		var p Problem
		if json.NewDecoder(answer.Body).Decode(&p) != nil || p.Detail == "" {
			p.Detail = "it answered " + answer.Status
		}
		return &p
	}
	if in.Buffered() > 0 {
		return errors.New("it has said too much")
	}
	return c.SetDeadline(time.Time{})
}
