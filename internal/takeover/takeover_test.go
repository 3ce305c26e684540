//go:build unix

package takeover_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/takeover"
)

// pair returns both ends of a connection.
func pair(t *testing.T) (old, fresh *net.UnixConn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return s.(*net.UnixConn), c.(*net.UnixConn)
}

// used opens two sockets of a server: TCP and Unix.
func used(t *testing.T) (s *takeover.Sockets, tcp, unix net.Listener) {
	t.Helper()
	s = &takeover.Sockets{}
	file := filepath.Join(t.TempDir(), "admin")
	open := func(name, network, address string) net.Listener {
		l, err := s.Listen(name, func() (net.Listener, error) { return net.Listen(network, address) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	return s, open("clients", "tcp", "127.0.0.1:0"), open("admin", "unix", file)
}

var errOpened = errors.New("opened")

func refuse() (net.Listener, error) { return nil, errOpened }

// result is what Give has returned.
type result struct {
	given *takeover.Given
	err   error
}

func give(conn *net.UnixConn, g takeover.Giving) <-chan result {
	done := make(chan result, 1)
	go func() {
		given, err := takeover.Give(conn, g)
		done <- result{given, err}
	}()
	return done
}

// accepts reports whether a listener accepts a connection to an address.
func accepts(t *testing.T, l net.Listener, network, address string) {
	t.Helper()
	c, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

func TestAServerIsHandedOver(t *testing.T) {
	old, fresh := pair(t)
	sockets, tcp, unix := used(t)
	isReleased := false
	done := give(old, takeover.Giving{Data: "/data", Sockets: sockets, Release: func() error { isReleased = true; return nil }})
	from, err := takeover.Take(fresh, "/data")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	if isReleased {
		t.Error("the files were closed before the new server was ready")
	}
	nextTCP, err := from.Sockets().Listen("clients", refuse)
	if err != nil {
		t.Fatal(err)
	}
	defer nextTCP.Close()
	nextUnix, err := from.Sockets().Listen("admin", refuse)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := from.Sockets().Listen("clients", refuse); !errors.Is(err, errOpened) {
		t.Errorf("a socket was given twice: %v", err)
	}
	accepts(t, tcp, "tcp", tcp.Addr().String()) // the old one goes on
	if err := from.Ready(); err != nil || !isReleased {
		t.Fatalf("released %v: %v", isReleased, err)
	}
	if err := from.Serving(); err != nil {
		t.Fatal(err)
	}
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	queued, err := net.Dial("tcp", tcp.Addr().String()) // waits in the queue of the socket
	if err != nil {
		t.Fatal(err)
	}
	defer queued.Close()
	_ = tcp.Close()
	_ = unix.Close()
	if c, err := nextTCP.Accept(); err != nil || c.RemoteAddr().String() != queued.LocalAddr().String() {
		t.Errorf("the connection that waited is lost: %v", err)
	}
	accepts(t, nextUnix, "unix", unix.Addr().String())
	closed := make(chan error, 1)
	go func() { closed <- r.given.Close(map[string]int{"calls": 7}) }()
	var noted map[string]int
	if err := from.Rest(&noted, 1<<40); err != nil || noted["calls"] != 7 {
		t.Errorf("got %v, %v", noted, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	_ = nextUnix.Close()
	if _, err := os.Lstat(unix.Addr().String()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of the socket stays when the last server has ended: %v", err)
	}
}

// Whatever the new server does wrong before it is ready leaves the old one as it was.
func TestAFailedTakeoverLeavesTheServer(t *testing.T) {
	frame := func(text string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	take := func(then func(*takeover.Taking)) func(*testing.T, *net.UnixConn) {
		return func(t *testing.T, c *net.UnixConn) {
			from, err := takeover.Take(c, "/data")
			if err != nil {
				t.Fatal(err)
			}
			then(from)
		}
	}
	write := func(b []byte) func(*testing.T, *net.UnixConn) {
		return func(_ *testing.T, c *net.UnixConn) { _, _ = c.Write(b); _ = c.CloseWrite() }
	}
	for name, c := range map[string]struct {
		do   func(*testing.T, *net.UnixConn)
		want string
	}{
		"gone":            {write(nil), "EOF"},
		"half a length":   {write([]byte{0, 0}), "EOF"},
		"half a message":  {write(frame(`{"kind":"hello"}`)[:9]), "EOF"},
		"long":            {write([]byte{255, 255, 255, 255}), "at most"},
		"no JSON":         {write(frame("hello")), "cannot be read"},
		"another message": {write(frame(`{"kind":"ready"}`)), `"ready" came`},
		"another version": {write(frame(`{"kind":"hello","protocol":2,"data":"/data"}`)), "speaks version 2"},
		"another server":  {write(frame(`{"kind":"hello","protocol":1,"data":"/other"}`)), "has its data in /other"},
		"says why":        {take(func(from *takeover.Taking) { from.Fail(errors.New("no memory")) }), "no memory"},
		"ends":            {take(func(from *takeover.Taking) { _ = from.Close() }), "did not become ready"},
		"is not ready":    {take(func(from *takeover.Taking) { _ = from.Serving() }), `"serving" came`},
	} {
		t.Run(name, func(t *testing.T) {
			old, fresh := pair(t)
			sockets, tcp, unix := used(t)
			done := give(old, takeover.Giving{Data: "/data", Sockets: sockets, Release: func() error { t.Error("the files were closed"); return nil }})
			c.do(t, fresh)
			err := (<-done).err
			if released := (*takeover.ReleasedError)(nil); err == nil || errors.As(err, &released) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			accepts(t, tcp, "tcp", tcp.Addr().String())
			accepts(t, unix, "unix", unix.Addr().String())
		})
	}
}

// A new server that ends when the files are closed leaves them without a server.
func TestAServerThatMustOpenItsFilesAgain(t *testing.T) {
	for name, do := range map[string]func(*takeover.Taking){
		"ends":     func(from *takeover.Taking) { _ = from.Close() },
		"says why": func(from *takeover.Taking) { from.Fail(errors.New("no memory")) },
	} {
		t.Run(name, func(t *testing.T) {
			old, fresh := pair(t)
			sockets, tcp, unix := used(t)
			done := give(old, takeover.Giving{Data: "/data", Sockets: sockets, Release: func() error { return nil }})
			from, err := takeover.Take(fresh, "/data")
			if err == nil {
				err = from.Ready()
			}
			if err != nil {
				t.Fatal(err)
			}
			do(from)
			released := (*takeover.ReleasedError)(nil)
			if err := (<-done).err; !errors.As(err, &released) {
				t.Errorf("got %v", err)
			}
			accepts(t, tcp, "tcp", tcp.Addr().String())
			copied, err := sockets.Copy()
			if err != nil {
				t.Fatal(err)
			}
			again, err := copied.Listen("admin", refuse)
			if err != nil {
				t.Fatal(err)
			}
			_ = unix.Close()
			accepts(t, again, "unix", unix.Addr().String())
			if names := copied.CloseUnused(); len(names) != 1 || names[0] != "clients" {
				t.Errorf("closed %q", names)
			}
			_ = again.Close()
			if _, err := os.Lstat(unix.Addr().String()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file of the socket stays: %v", err)
			}
		})
	}
}

// A server that refuses, or has hung, is not replaced, and the new one says so.
func TestAServerThatIsNotReplaced(t *testing.T) {
	old, fresh := pair(t)
	sockets, _, _ := used(t)
	done := give(old, takeover.Giving{Data: "/data", Sockets: sockets, Refuse: errors.New("another one is faster")})
	if _, err := takeover.Take(fresh, "/data"); err == nil || !strings.Contains(err.Error(), "the other server says: another one is faster") {
		t.Errorf("got %v", err)
	}
	if err := (<-done).err; err == nil {
		t.Error("the server was replaced")
	}
	takeover.SetAnswerTime(t, 1)
	_, fresh = pair(t)
	if _, err := takeover.Take(fresh, "/data"); err == nil || !strings.Contains(err.Error(), "did not answer") && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A server that closes the connection may go on: only the end of its process leaves its files to another one.
func TestAServerThatHangsUpIsNotReplaced(t *testing.T) {
	old, fresh := pair(t)
	sockets, tcp, _ := used(t)
	done := give(old, takeover.Giving{Data: "/data", Sockets: sockets, Release: func() error { t.Error("the files were closed"); return nil }})
	from, err := takeover.Take(fresh, "/data")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	_ = old.Close()
	if err := (<-done).err; err == nil {
		t.Error("the server was replaced")
	}
	takeover.SetAnswerTime(t, 1)
	if err := from.Ready(); err == nil || from.HasEnded() {
		t.Errorf("got %v, ended %v", err, from.HasEnded())
	}
	accepts(t, tcp, "tcp", tcp.Addr().String())
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"kind":"hello","protocol":1,"data":"/data"}`), uint32(44))
	f.Add([]byte(`{"kind":"failed","error":"x"}`), uint32(1<<31))
	f.Fuzz(func(t *testing.T, text []byte, length uint32) {
		old, fresh := pair(t)
		done := give(old, takeover.Giving{Data: "/data", Sockets: &takeover.Sockets{}, Release: func() error { return nil }})
		_, _ = fresh.Write(append(binary.BigEndian.AppendUint32(nil, length), text...))
		_ = fresh.Close()
		if r := <-done; r.err == nil {
			t.Error("the server was replaced")
		}
	})
}
