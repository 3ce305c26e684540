package takeover

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// A Taking is a server that is being taken over, as the new process sees it. The caller calls Close, also after a success. Its
// methods are called one after the other.
type Taking struct {
	link    link
	sockets *Sockets
}

// Take asks the server at the other end of conn for its sockets. data is the path of the folder of its data. On an error it closes
// conn, and the other server goes on.
func Take(conn *net.UnixConn, data string) (*Taking, error) {
	l := link{conn}
	if err := l.send(message{Kind: hello, Protocol: protocol, Data: data}, nil, answerTime); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	m, descriptors, err := l.receive(sockets, answerTime)
	if err != nil {
		return nil, errors.Join(explain(err), conn.Close())
	}
	given, err := socketsOf(m.Names, descriptors)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &Taking{l, given}, nil
}

// Sockets are those of the other server.
func (t *Taking) Sockets() *Sockets { return t.sockets }

// Ready has the other server close its files, and returns when it has: now this process may open them.
func (t *Taking) Ready() error {
	if err := t.link.send(message{Kind: ready}, nil, answerTime); err != nil {
		return err
	}
	_, _, err := t.link.receive(released, answerTime)
	return explain(err)
}

// Serving has the other server stop to accept, and end in a while. The sockets are those of this process then.
func (t *Taking) Serving() error {
	if err := t.link.send(message{Kind: serving}, nil, answerTime); err != nil {
		return err
	}
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
	return t.link.conn.Close()
}

// explain says of a server that does not answer what can be done.
func explain(err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return fmt.Errorf("the running server did not answer for too long and goes on: look at its log, or restart it (%w)", err)
}
