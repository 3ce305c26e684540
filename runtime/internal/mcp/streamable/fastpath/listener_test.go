package fastpath_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/fastpath"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// An addressed listener gives each connection the next remote address.
type addressed struct {
	net.Listener
	from chan string
}

type addressedConn struct {
	net.Conn
	from net.Addr
}

func (c addressedConn) RemoteAddr() net.Addr { return c.from }

func (l addressed) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return addressedConn{c, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(<-l.from), 1))}, nil
}

// A smallServer takes few connections.
type smallServer struct {
	l    *memory
	from chan string
}

// newSmallServer serves at most three connections at once, until the test ends.
func newSmallServer(t *testing.T, src resource.Source) *smallServer {
	return newServerOf(t, src, fastpath.Config{MaxConnections: 3})
}

func newServerOf(t *testing.T, src resource.Source, cfg fastpath.Config) *smallServer {
	server, err := fastpath.NewServer(streamtest.NewFront(t, src, mcp.Config{}, streamable.Config{}), cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := &smallServer{l: newMemory(), from: make(chan string, 1)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(addressed{c.l, c.from}) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Shutdown(context.Background()), <-served); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return c
}

// join opens a connection from an address and sends a request. closed is closed when the server closes the connection.
func (c *smallServer) join(from, request string) (conn net.Conn, closed <-chan struct{}) {
	c.from <- from
	conn = c.l.dial()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, conn)
	}()
	if request != "" {
		_, _ = io.WriteString(conn, request)
	}
	synctest.Wait()
	time.Sleep(time.Second)
	return conn, ended
}

func isClosed(ended <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-ended:
		return true
	default:
		return false
	}
}

func TestOneConnectionTooManyClosesTheOneIdleForLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSmallServer(t, streamtest.Library())
		first, one := c.join("192.0.2.1", modernRead("test://text"))
		defer first.Close()
		second, two := c.join("192.0.2.2", "")                  // has sent nothing
		third, three := c.join("192.0.2.3", "POST /mcp HTTP/1") // has sent half of a request
		defer second.Close()
		defer third.Close()
		_, _ = io.WriteString(first, modernRead("test://text"))
		synctest.Wait() // or the fourth may come before that is read
		fourth, four := c.join("192.0.2.4", modernRead("test://text", "Origin", "http://localhost"))
		defer fourth.Close()
		if isClosed(one) || !isClosed(two) || isClosed(three) || isClosed(four) {
			t.Errorf("closed are %v, %v, %v, %v, want the second", isClosed(one), isClosed(two), isClosed(three), isClosed(four))
		}
	})
}

func TestAClientWithManyConnectionsLosesThemFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSmallServer(t, streamtest.Library())
		first, honest := c.join("192.0.2.1", modernRead("test://text"))
		defer first.Close()
		var closed []bool
		var many []<-chan struct{}
		for range 5 {
			conn, ended := c.join("192.0.2.2", modernRead("test://text"))
			defer conn.Close()
			many = append(many, ended)
		}
		for _, ended := range many {
			closed = append(closed, isClosed(ended))
		}
		if isClosed(honest) || !closed[0] || !closed[1] || !closed[2] || closed[3] || closed[4] {
			t.Errorf("the connection of the other client is closed: %v, those of the client with many: %v, want the first three of these", isClosed(honest), closed)
		}
	})
}

func TestOneConnectionTooManyIsClosedWhenAllAreBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		c := newSmallServer(t, g)
		var busy []<-chan struct{}
		for i, headers := range [][]string{nil, {"Origin", "http://localhost"}, nil} {
			conn, ended := c.join([]string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}[i], modernRead("test://gate", headers...))
			defer conn.Close()
			<-g.begun
			busy = append(busy, ended)
		}
		extra, ended := c.join("192.0.2.4", "")
		defer extra.Close()
		if !isClosed(ended) || isClosed(busy[0]) || isClosed(busy[1]) || isClosed(busy[2]) {
			t.Error("a busy connection was closed, or the new one was not")
		}
		for range busy {
			g.release <- struct{}{}
		}
	})
}

// A connection that waits for a request gives its file back, whatever it has sent before.
func TestFilesOfUnusualClientsAreLent(t *testing.T) {
	body := streamtest.Body("1", "ping", "")
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	for name, request := range map[string]string{
		"chunked":                   head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body),
		"TE":                        head + fmt.Sprintf("TE: trailers\r\nContent-Length: %d\r\n\r\n%s", len(body), body),
		"Expect":                    head + fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\n\r\n%s", len(body), body),
		"half a head":               head + "TE: trailers\r\n",
		"half a head after a read":  modernRead("test://text") + head + "TE: trailers\r\n",
		"half a head after another": modernRead("test://text", "Origin", "http://localhost") + head + "TE: trailers\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shared := streamable.NewConnections(8, nil)
				s := newServerOf(t, streamtest.Library(), fastpath.Config{Shared: shared})
				conn, closed := s.join("192.0.2.1", request)
				t.Cleanup(func() { conn.Close() })
				if isClosed(closed) {
					t.Fatal("the server closes the connection by itself")
				}
				if !shared.Lend(8) || !isClosed(closed) {
					t.Error("the connection keeps its file")
				}
			})
		})
	}
}

// A connection with a request under way stays open, whatever it has sent before.
func TestFilesOfBusyUnusualClientsAreNotLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := streamable.NewConnections(8, nil)
		g := newGate()
		s := newServerOf(t, g, fastpath.Config{Shared: shared})
		conn, closed := s.join("192.0.2.1", modernRead("test://gate", "TE", "trailers"))
		t.Cleanup(func() { conn.Close() })
		for range 2 {
			<-g.begun
			if shared.Lend(8) || isClosed(closed) {
				t.Fatal("a busy connection has given its file back")
			}
			shared.Lend(0)
			g.release <- struct{}{}
			synctest.Wait()
			_, _ = io.WriteString(conn, modernRead("test://gate"))
		}
		<-g.begun
		g.release <- struct{}{}
	})
}

// Clients that are always busy cannot take the files that others need.
func TestBusyConnectionsLeaveFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const files = 16
		shared := streamable.NewConnections(files, nil)
		g := newGate()
		s := newServerOf(t, g, fastpath.Config{Shared: shared})
		for range files - files/8 {
			conn, _ := s.join("192.0.2.1", modernRead("test://gate"))
			t.Cleanup(func() { conn.Close() })
			<-g.begun
		}
		conn, closed := s.join("192.0.2.1", "")
		t.Cleanup(func() { conn.Close() })
		if !isClosed(closed) {
			t.Error("one more connection is open")
		}
		if !shared.Lend(files / 8) {
			t.Error("the last files are not there")
		}
		for range files - files/8 {
			g.release <- struct{}{}
		}
	})
}

// Servers that share files give those of idle connections back when others need them.
func TestServersLendFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := streamable.NewConnections(5, nil)
		g := newGate()
		busy, idle := newServerOf(t, g, fastpath.Config{Shared: shared}), newServerOf(t, streamtest.Library(), fastpath.Config{Shared: shared})
		var all []<-chan struct{}
		join := func(s *smallServer, request string) (closed <-chan struct{}) {
			conn, closed := s.join("192.0.2.1", request)
			t.Cleanup(func() { conn.Close() })
			all = append(all, closed)
			return closed
		}
		closed := func(want ...int) {
			t.Helper()
			var got []int
			for i, ended := range all {
				if isClosed(ended) {
					got = append(got, i)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("closed are %v, want %v", got, want)
			}
		}
		join(busy, modernRead("test://gate"))
		<-g.begun
		for range 4 {
			join(idle, modernRead("test://text"))
		}
		closed()
		if !shared.Lend(2) {
			t.Error("two files are not there")
		}
		closed(1, 2)                          // that have waited for longest
		join(idle, modernRead("test://text")) // which costs another its connection
		closed(1, 2, 3)
		if shared.Lend(5) {
			t.Error("a busy connection has given its file back")
		}
		closed(1, 2, 3, 4, 5)
		refused := join(idle, "")
		closed(1, 2, 3, 4, 5, 6)
		<-refused
		g.release <- struct{}{}
		synctest.Wait()
		if !shared.Lend(5) {
			t.Error("an answered connection has kept its file")
		}
		shared.Lend(4)
		join(idle, modern("subscriptions/listen", "", streamtest.Body("1", "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`)))
		closed(0, 1, 2, 3, 4, 5, 6)
		if shared.Lend(5) {
			t.Error("the file of a stream was lent")
		}
	})
}
