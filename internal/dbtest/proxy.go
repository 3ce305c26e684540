package dbtest

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// A Fault is what a Proxy does to what passes it.
type Fault int32

// The faults. Connections that are made while there is one have it from the beginning.
const (
	None    Fault = iota
	Hang          // nothing passes any more, in either direction
	Trickle       // what the server says arrives a byte every 10 ms
	Cut           // the connection ends amid what the server says next
)

// A Proxy stands between clients and a server, whose URLs hold for it with Dir in the place of the server's.
type Proxy struct {
	Dir  string // with its socket; empty for one of ProxyTCP
	Addr string // of this machine, with a port, for one of ProxyTCP

	server   string // socket
	listener net.Listener
	fault    atomic.Int32
	running  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{} // guarded by mu; nil once it is closed
}

// Proxy starts a Proxy for the server, whose socket has the name that it has within [Server.Dir].
func (s *Server) Proxy(socket string) (*Proxy, error) {
	dir, err := os.MkdirTemp("", "wasmres-proxy-")
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", filepath.Join(dir, socket))
	if err != nil {
		return nil, err
	}
	p := &Proxy{Dir: dir, server: filepath.Join(s.Dir, socket), listener: l, conns: map[net.Conn]struct{}{}}
	p.running.Go(p.serve)
	return p, nil
}

// ProxyTCP starts a Proxy for the server as Proxy does, at an address of this machine.
func (s *Server) ProxyTCP(socket string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{Addr: l.Addr().String(), server: filepath.Join(s.Dir, socket), listener: l, conns: map[net.Conn]struct{}{}}
	p.running.Go(p.serve)
	return p, nil
}

// Set has the proxy begin, or stop, to fail.
func (p *Proxy) Set(f Fault) { p.fault.Store(int32(f)) }

// Conns is how many connections clients have now.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns) / 2
}

// Close ends all connections.
func (p *Proxy) Close() error {
	_ = p.listener.Close()
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
	p.mu.Unlock()
	p.running.Wait()
	return os.RemoveAll(p.Dir)
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server)
		if err != nil || !p.add(client, server) {
			_ = client.Close()
			continue
		}
		var pumps sync.WaitGroup
		pumps.Go(func() { p.pump(server, client, false) })
		pumps.Go(func() { p.pump(client, server, true) })
		p.running.Go(func() {
			pumps.Wait()
			p.remove(client, server)
		})
	}
}

func (p *Proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return false
	}
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
	return true
}

func (p *Proxy) remove(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.conns, c)
	}
}

// pump passes on what comes from one side until either has ended, and then ends both.
func (p *Proxy) pump(to, from net.Conn, fromServer bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		switch f := Fault(p.fault.Load()); {
		case f == Hang:
			continue
		case f == Cut && fromServer:
			_, _ = to.Write(b[:n/2])
			return
		case f == Trickle && fromServer:
			err = trickle(to, b[:n])
		default:
			_, err = to.Write(b[:n])
		}
		if err != nil {
			return
		}
	}
}

func trickle(to net.Conn, b []byte) error {
	for i := range b {
		if _, err := to.Write(b[i : i+1]); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}
