package takeover

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/wasmres/wasmres/internal/faultpoint"
)

var answerTime = 10 * time.Second // for an answer that needs no work; fixed but in tests

const workTime = time.Minute // for the other process to read its configuration, or to open the files

// A Giving is a server that may be replaced.
type Giving struct {
	Data    string // path of the folder of its data, by which the new process is known to mean this server
	Sockets *Sockets
	// Release closes the files that one process may have open. The server goes on to serve. After an error the files may be
	// closed in part.
	Release func() error
	Refuse  error // why the server cannot be replaced now; nil if it can
}

// A ReleasedError is that of a takeover that failed when the files were released: no server may have them now.
type ReleasedError struct{ Err error }

func (e *ReleasedError) Error() string {
	return fmt.Sprintf("after this server has closed its files: %v", e.Err)
}

// Unwrap returns the cause.
func (e *ReleasedError) Unwrap() error { return e.Err }

// Give hands a server to the process at the other end of conn. It returns when that serves: then the caller stops to accept,
// and calls [Given.Close] in the end. On an error it closes conn, and this process goes on; it must open its files again if the
// error is a [ReleasedError].
func Give(conn *net.UnixConn, g Giving) (*Given, error) {
	l := link{conn}
	err := l.give(g)
	if err == nil {
		return &Given{l}, nil
	}
	if other := (*otherError)(nil); !errors.As(err, &other) {
		l.fail(err)
	}
	_ = conn.Close()
	return nil, err
}

func (l link) give(g Giving) error {
	m, _, err := l.receive(hello, answerTime)
	switch {
	case err != nil:
		return err
	case g.Refuse != nil:
		return g.Refuse
	case m.Protocol != protocol:
		return fmt.Errorf("the new server speaks version %d of the takeover, this one speaks %d: replace it by a restart", m.Protocol, protocol)
	case m.Data != g.Data:
		return fmt.Errorf("the new server has its data in %s, this one in %s", m.Data, g.Data)
	}
	names, descriptors, err := g.Sockets.duplicate()
	if err != nil {
		return err
	}
	if m.Life { // earlier programs do not ask
		life, err := lifeOfThis()
		if err != nil {
			closeAll(descriptors)
			return err
		}
		descriptors = append(descriptors, life)
	}
	err = l.send(message{Kind: sockets, Names: names, Life: m.Life}, descriptors, answerTime)
	closeAll(descriptors)
	if err != nil {
		return err
	}
	if _, _, err := l.receive(ready, workTime); err != nil {
		return fmt.Errorf("the new server did not become ready: %w", err)
	}
	faultpoint.Reach("takeover: before the release")
	if err := g.Release(); err != nil {
		return &ReleasedError{err}
	}
	faultpoint.Reach("takeover: files released")
	if err := l.send(message{Kind: released}, nil, answerTime); err != nil {
		return &ReleasedError{err}
	}
	faultpoint.Reach("takeover: release told")
	if _, _, err := l.receive(serving, workTime); err != nil {
		return &ReleasedError{fmt.Errorf("the new server does not serve: %w", err)}
	}
	faultpoint.Reach("takeover: replaced")
	g.Sockets.keepFiles(true)
	return nil
}

// Given is a server that was handed over, as the old process sees it.
type Given struct{ link link }

// Close tells the new process what the old one has noted since it has released its files, as JSON, and ends the connection.
func (g *Given) Close(noted any) error {
	text, err := json.Marshal(noted)
	if err == nil {
		err = g.link.send(message{Kind: rest, Rest: text}, nil, answerTime)
	}
	return errors.Join(err, g.link.conn.Close())
}
