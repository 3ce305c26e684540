package takeover

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/internal/faultpoint"
)

// A Taking is a server that is being taken over, as the new process sees it. The caller calls Close, also after a success. Its
// methods are called one after the other.
type Taking struct {
	link    link
	sockets *Sockets
	life    *os.File // shows the end of the other process; nil for none
	ended   bool     // the other process
}

// Take asks the server at the other end of conn for its sockets. data is the path of the folder of its data. On an error it closes
// conn, and the other server goes on.
func Take(conn *net.UnixConn, data string) (*Taking, error) {
	l := link{conn}
	if err := l.send(message{Kind: hello, Protocol: protocol, Data: data, Life: true}, nil, answerTime); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	m, descriptors, err := l.receive(sockets, answerTime)
	if err != nil {
		return nil, errors.Join(explain(err), conn.Close())
	}
	t := &Taking{link: l}
	if last := len(descriptors) - 1; m.Life && last >= 0 {
		if t.life, err = lifeOf(descriptors[last]); err != nil {
			closeAll(descriptors[:last])
			return nil, errors.Join(err, conn.Close())
		}
		descriptors = descriptors[:last]
	}
	if t.sockets, err = socketsOf(m.Names, descriptors); err != nil {
		return nil, errors.Join(err, t.closeLife(), conn.Close())
	}
	return t, nil
}

// Sockets are those of the other server.
func (t *Taking) Sockets() *Sockets { return t.sockets }

// Ready has the other server close its files, and returns when it has, or when its process has ended: now this process may open
// them. The kernel may need a moment to close those of a process that has ended.
func (t *Taking) Ready() error {
	faultpoint.Reach("takeover: ready")
	err := t.link.send(message{Kind: ready}, nil, answerTime)
	if err == nil {
		faultpoint.Reach("takeover: ready told")
		_, _, err = t.link.receive(released, answerTime)
		faultpoint.Reach("takeover: files free")
	}
	return t.unlessEnded(explain(err))
}

// HasEnded reports whether the process of the other server has ended before it could hand it over.
func (t *Taking) HasEnded() bool { return t.ended }

// Serving has the other server stop to accept, and end in a while, unless its process has ended. The sockets are those of this process
// then.
func (t *Taking) Serving() error {
	faultpoint.Reach("takeover: serving")
	if !t.ended {
		if err := t.unlessEnded(t.link.send(message{Kind: serving}, nil, answerTime)); err != nil {
			return err
		}
	}
	faultpoint.Reach("takeover: serving told")
	t.sockets.keepFiles(false)
	return nil
}

// Rest waits until the other server ends, for that long, and decodes what it has noted since it has released its files.
func (t *Taking) Rest(into any, within time.Duration) error {
	m, _, err := t.link.receive(rest, within)
	if err != nil {
		return explain(err)
	}
	return json.Unmarshal(m.Rest, into)
}

// Fail tells the other server why this process does not serve.
func (t *Taking) Fail(err error) { t.link.fail(err) }

// Close ends the connection, and closes the sockets that are not in use. Before Serving, the other server then goes on.
func (t *Taking) Close() error {
	t.sockets.CloseUnused()
	_ = t.closeLife()
	return t.link.conn.Close()
}

// unlessEnded returns the error of a message; nil if it was lost since the other process has ended: its files are for this one then.
func (t *Taking) unlessEnded(err error) error {
	if !isHangup(err) || t.life == nil {
		return err
	}
	if t.ended = hasEnded(t.life, answerTime); t.ended { // the kernel closes what a process has open one after the other
		return nil
	}
	return err
}

// isHangup reports whether the other process has closed its end of the connection, by its own end or otherwise.
func isHangup(err error) bool {
	for _, hangup := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, hangup) {
			return true
		}
	}
	return false
}

func (t *Taking) closeLife() error {
	if t.life == nil {
		return nil
	}
	return t.life.Close()
}

// explain says of a server that does not answer what can be done.
func explain(err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return fmt.Errorf("the running server did not answer for too long and goes on: look at its log, or restart it (%w)", err)
}
