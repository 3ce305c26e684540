package e2e

import (
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// A gate passes the connections by which pebble looks at a server on to it. Those that come while it holds wait until it lets them go.
type gate struct {
	holds   atomic.Bool
	waiting atomic.Int64
	free    chan struct{} // closed by letGo
	letGo   func()        // works once
	to      string
	passing sync.WaitGroup
}

// newGate returns a gate that holds.
func newGate() *gate {
	g := &gate{free: make(chan struct{})}
	g.letGo = sync.OnceFunc(func() { close(g.free) })
	g.holds.Store(true)
	return g
}

// open passes connections on to a port of this machine until the test ends, and returns the port at which it accepts them.
func (g *gate) open(t *testing.T, to string) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.to = "127.0.0.1:" + to
	g.passing.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.passing.Go(func() { g.pass(c) })
		}
	})
	t.Cleanup(func() {
		g.letGo()
		l.Close()
		g.passing.Wait()
	})
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// pass passes one connection on, until either side closes it.
func (g *gate) pass(from net.Conn) {
	defer from.Close()
	if g.holds.Load() {
		g.waiting.Add(1)
		<-g.free
	}
	to, err := net.Dial("tcp", g.to)
	if err != nil {
		return // as where no server listens
	}
	defer to.Close()
	g.passing.Go(func() {
		_, _ = io.Copy(to, from)
		to.Close()
	})
	_, _ = io.Copy(from, to)
}

// checkIssued checks that a server has a certificate for each of its hosts, of an order of its own, and no problem.
func (e *encrypted) checkIssued(t *testing.T) {
	t.Helper()
	for _, name := range []string{"mcp.example", "acme.example"} {
		e.serial(name)
	}
	if status, text := e.ready(); status != http.StatusOK || text != "ready\n" {
		t.Errorf("/readyz: %d %s", status, text)
	}
	if n := e.log.count("account made"); n != 1 {
		t.Errorf("%d accounts were made, want 1", n)
	}
}

// A server is replaced while pebble looks at it for an order: the next one has the account, and orders anew.
func TestATakeoverDuringAnOrder(t *testing.T) {
	t.Parallel()
	for _, byTLS := range []bool{true, false} {
		t.Run(challengeOf(byTLS), func(t *testing.T) {
			t.Parallel()
			g := newGate()
			e := startEncrypted(t, authority{seconds: 3600, byTLS: byTLS, gate: g})
			e.until("pebble to look at the server", func() bool { return g.waiting.Load() > 0 })
			g.holds.Store(false)
			old := e.server
			e.server = e.start("--takeover")
			g.letGo() // what pebble asked of the old server comes to the new one
			if err := old.Wait(); err != nil {
				t.Errorf("the server that was taken over: %v", err)
			}
			e.checkIssued(t)
		})
	}
}

// A service manager has opened the sockets, that of the authority after that of clients, and starts the server again after its end
// during an order.
func TestCertificatesOfAnActivatedServer(t *testing.T) {
	t.Parallel()
	for _, byTLS := range []bool{true, false} {
		t.Run(challengeOf(byTLS), func(t *testing.T) {
			t.Parallel()
			g := newGate()
			e := startEncrypted(t, authority{seconds: 3600, byTLS: byTLS, gate: g, activated: true})
			e.until("pebble to look at the server", func() bool { return g.waiting.Load() > 0 })
			g.holds.Store(false)
			e.stop()
			g.letGo() // what pebble asked of the first server waits for the next one
			e.server = e.start()
			e.checkIssued(t)
			want := e.serial("acme.example")
			e.stop()
			e.server = e.start()
			if got := e.serial("acme.example"); got != want {
				t.Errorf("after another start the certificate is %s, want %s", got, want)
			}
			if e.log.has("socket of the service manager not used") {
				t.Error("a socket of the service manager is not used")
			}
		})
	}
}

func challengeOf(byTLS bool) string {
	return map[bool]string{true: "tls-alpn-01", false: "http-01"}[byTLS]
}
