package wire

import (
	"errors"
	"fmt"
)

// How a connection fails; see [Conn].
var (
	// ErrGone says that the other process closed its end, or died, in the middle of something.
	ErrGone = errors.New("the other process is gone")
	// ErrShut says that [Conn.Shut] or [Conn.Close] ended it.
	ErrShut = errors.New("the connection was shut")
	// ErrProtocol is in the chain when the other process said what it must not. There is no way on.
	ErrProtocol = errors.New("protocol broken")
)

// Protocolf makes an error that has [ErrProtocol] in its chain.
func Protocolf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrProtocol}, args...)...)
}

func tooLong(what string, size, most int) error {
	return Protocolf("%s of %d bytes, at most %d are allowed", what, size, most)
}

func malformed(k Kind, why string) error { return Protocolf("%v message: %s", k, why) }

// unsendable is what is wrong with a message of our own, which is no breach by the other side.
func unsendable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot send: %v", err)
}

// Unexpected fails the connection, since a message of this kind has no place where it came.
func (c *Conn) Unexpected(k Kind) error { return c.fail(Protocolf("unexpected %v message", k)) }
