package load

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// An Exchange is one HTTP connection, for calls whose answers are looked at. Close it.
type Exchange struct {
	addr     string
	revision Revision
	session  string
	fd       int
	in       []byte
}

// OpenExchange connects, and initializes a session where the revision has them.
func OpenExchange(addr string, r Revision) (*Exchange, error) {
	fd, err := dial(addr)
	if err != nil {
		return nil, err
	}
	x := &Exchange{addr: addr, revision: r, fd: fd, in: make([]byte, bufferSize)}
	if r != Sessions {
		return x, nil
	}
	if err := x.begin(); err != nil {
		x.Close()
		return nil, fmt.Errorf("initialize at %s: %w", addr, err)
	}
	return x, nil
}

func (x *Exchange) begin() error {
	r, err := x.post(Call{Method: "initialize"}, initialize, nil)
	if err != nil {
		return err
	}
	x.session = string(value(r.kept, sessionID))
	_, err = x.post(Call{Method: "notifications/initialized"}, initialized, nil)
	return err
}

// Call asks and gives the answer's message. The bytes are added to buf, which may be nil.
func (x *Exchange) Call(c Call, buf []byte) ([]byte, error) {
	body, _ := c.message(x.revision)
	r, err := x.post(c, body, buf)
	if err != nil {
		return nil, err
	}
	if r.stream {
		return lastEvent(*r.keep)
	}
	return *r.keep, nil
}

// lastEvent gives the data of the last event that has any: a stream ends with the answer.
func lastEvent(stream []byte) ([]byte, error) {
	name := []byte("data:")
	at := bytes.LastIndex(stream, append([]byte("\n"), name...)) + 1
	if !bytes.HasPrefix(stream[at:], name) {
		return nil, fmt.Errorf("a stream without data: %.300q", stream)
	}
	data, _, _ := bytes.Cut(stream[at+len(name):], []byte("\n"))
	return bytes.TrimSpace(data), nil
}

// Close closes the connection.
func (x *Exchange) Close() { _ = syscall.Close(x.fd) }

func (x *Exchange) post(c Call, body string, buf []byte) (*response, error) {
	r := &response{keep: &buf}
	if err := writeAll(x.fd, []byte(c.header(x.addr, x.revision, x.session, len(body))+body)); err != nil {
		return nil, err
	}
	for {
		n, err := syscall.Read(x.fd, x.in)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return nil, fmt.Errorf("the server has closed the connection: %w", os.NewSyscallError("read", err))
		}
		done, err := r.feed(x.in[:n])
		if err != nil {
			return nil, err
		}
		if done && r.status/100 != 2 {
			return nil, fmt.Errorf("status %d: %.300s", r.status, buf)
		}
		if done {
			buf = bytes.TrimSpace(buf)
			return r, nil
		}
	}
}
