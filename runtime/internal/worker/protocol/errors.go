package protocol

import (
	"errors"
	"fmt"
)

// Errors of connections; see [Conn].
var (
	// ErrGone means that the other process closed its end, or ended, within a message or before one was sent.
	ErrGone = errors.New("connection lost: the other process has closed it or ended")
	// ErrClosed means that this process called [Conn.Shutdown] or [Conn.Close].
	ErrClosed = errors.New("connection closed by this process")
	// ErrViolation is in the chain of an error when the other process violated the protocol.
	ErrViolation = errors.New("protocol violation")
)

// Errorf makes an error that has [ErrViolation] in its chain.
func Errorf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrViolation}, args...)...)
}

func tooLong(what string, size, most int) error {
	return Errorf("%s of %d bytes, at most %d are allowed", what, size, most)
}

func malformed(k Kind, why string) error { return Errorf("%v message: %s", k, why) }

// encodeError returns the error for a message that this process cannot send. It is not a violation by the other
// process.
func encodeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("send: %v", err)
}

// Unexpected fails the connection because a message of this kind is not allowed here.
func (c *Conn) Unexpected(k Kind) error { return c.fail(Errorf("unexpected %v message", k)) }
