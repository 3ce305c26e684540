package takeover

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	protocol   = 1
	maxMessage = 64 << 20 // bytes
	maxText    = 1 << 10  // bytes of an error from the other side
)

// Kinds of messages, in their order. Each side may say failed instead of its next one.
const (
	hello    = "hello"    // new: which server it wants to replace
	sockets  = "sockets"  // old: with the descriptors
	ready    = "ready"    // new: it can open the files
	released = "released" // old: it has closed the files
	serving  = "serving"  // new: it has opened the files, and accepts
	rest     = "rest"     // old: what it has noted since
	failed   = "failed"
)

// A message is what one process tells the other.
type message struct {
	Kind     string          `json:"kind"`
	Protocol int             `json:"protocol,omitempty"` // of hello
	Data     string          `json:"data,omitempty"`     // of hello: the folder of the server
	Life     bool            `json:"life,omitempty"`     // of hello: asks for what shows the end of the process; of sockets: it is the last descriptor
	Names    []string        `json:"names,omitempty"`    // of sockets
	Error    string          `json:"error,omitempty"`    // of failed
	Rest     json.RawMessage `json:"rest,omitempty"`     // of rest
}

// A link has the messages of a connection.
type link struct{ conn *net.UnixConn }

// send sends a message, with descriptors, within a time.
func (l link) send(m message, descriptors []int, within time.Duration) error {
	text, err := json.Marshal(&m)
	if err != nil {
		return err
	}
	if len(text) > maxMessage {
		return fmt.Errorf("the message has %d bytes, at most %d are allowed", len(text), maxMessage)
	}
	if err := l.conn.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	if len(descriptors) > 0 {
		n, _, err := l.conn.WriteMsgUnix(frame, rightsOf(descriptors), nil)
		if err != nil || n == len(frame) { // the other process may have read all, and be gone
			return err
		}
		frame = frame[n:]
	}
	_, err = l.conn.Write(frame)
	return err
}

// An otherError is what the other process says has failed.
type otherError struct{ text string }

func (e *otherError) Error() string { return "the other server says: " + e.text }

// receive receives a message of a kind within a time. The caller closes the descriptors.
func (l link) receive(kind string, within time.Duration) (m message, descriptors []int, err error) {
	defer func() {
		if err != nil {
			closeAll(descriptors)
			descriptors = nil
		}
	}()
	if err := l.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return m, nil, err
	}
	var size [4]byte
	control := make([]byte, maxRights)
	n, controlled, flags, _, err := l.conn.ReadMsgUnix(size[:], control)
	if err == nil && controlled > 0 {
		descriptors, err = descriptorsOf(control[:controlled])
	}
	switch {
	case err != nil:
		return m, descriptors, err
	case n == 0:
		return m, descriptors, io.EOF
	case flags&truncated != 0:
		return m, descriptors, errors.New("more sockets came than are allowed")
	}
	if _, err := io.ReadFull(l.conn, size[n:]); err != nil {
		return m, descriptors, err
	}
	length := binary.BigEndian.Uint32(size[:])
	if length > maxMessage {
		return m, descriptors, fmt.Errorf("a message with %d bytes came, at most %d are allowed", length, maxMessage)
	}
	text, err := io.ReadAll(io.LimitReader(l.conn, int64(length))) // which grows with what has come
	if err == nil && len(text) < int(length) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return m, descriptors, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, descriptors, fmt.Errorf("a message came that cannot be read: %w", err)
	}
	switch {
	case m.Kind == failed:
		return m, descriptors, &otherError{m.Error[:min(len(m.Error), maxText)]}
	case m.Kind != kind:
		return m, descriptors, fmt.Errorf("the message %.20q came, and %q was expected", m.Kind, kind)
	}
	return m, descriptors, nil
}

// fail tells the other process why this one gives up.
func (l link) fail(err error) {
	_ = l.send(message{Kind: failed, Error: err.Error()}, nil, time.Second) // the end of the connection tells it too
}
