package protocol

import (
	"errors"
	"fmt"
)

// How a connection fails; see [Conn].
var (
	// ErrGone says that the other process closed its end, or ended, in the middle of a message or before one was sent.
	ErrGone = errors.New("connection lost: the other process has closed it or ended")
	// ErrClosed says that this process called [Conn.Shutdown] or [Conn.Close].
	ErrClosed = errors.New("connection closed by this process")
	// ErrViolation is in the chain when the other process sent what the protocol does not allow.
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

// encodeError makes the error of a message that this process cannot send. It is no violation by the other process.
func encodeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("send: %v", err)
}

// Unexpected fails the connection: a message of this kind is not allowed where it came.
func (c *Conn) Unexpected(k Kind) error { return c.fail(Errorf("unexpected %v message", k)) }
