package child

import (
	"errors"
	"io"
	"maps"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// serve serves the first link and handles the control connection, until the parent closes it.
func (c *child) serve(first *connection) error {
	c.idle.release = c.releaseMemory
	c.serveLink(first)
	time.AfterFunc(resumeAfter, c.resumeGC) // ends with the process
	err := c.handleMessages()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// handleMessages handles the messages of the control connection. It returns the error that ends it: io.EOF when the
// parent has closed it.
func (c *child) handleMessages() error {
	for {
		kind, payload, err := c.control.Next()
		if err != nil {
			return err
		}
		if err := c.handleControl(kind, payload); err != nil {
			return err
		}
	}
}

// handleControl handles one message of the control connection.
func (c *child) handleControl(kind protocol.Kind, payload []byte) error {
	switch kind {
	case protocol.KindNewLink:
		return c.newLink(payload)
	case protocol.KindCancel:
		var m protocol.Cancel
		if err := m.Decode(payload); err != nil {
			return err
		}
		c.links[m.Link].cancel(m.Seq)
	case protocol.KindPause:
		var m protocol.Pause
		if err := m.Decode(payload); err != nil {
			return err
		}
		c.links[m.Link].pause(m.Seq, m.On)
	case protocol.KindEndSession:
		c.guests.EndSession(string(payload))
	default:
		return c.control.Unexpected(kind)
	}
	return nil
}

// newLink opens another link.
func (c *child) newLink(payload []byte) error {
	var m protocol.NewLink
	if err := m.Decode(payload); err != nil {
		return err
	}
	files, err := c.control.TakeFiles(2)
	if err != nil {
		return err
	}
	l, err := newConnection(m.ID, files[0], files[1])
	if err != nil {
		return err
	}
	c.serveLink(l)
	return nil
}

// serveLink serves a link until the parent closes it, or the process ends.
func (c *child) serveLink(l *connection) {
	maps.DeleteFunc(c.links, func(_ uint32, other *connection) bool { return other.ended.Load() })
	c.links[l.id] = l
	go l.serve(c.host, c.guests, &c.idle)
}
