package link

import (
	"errors"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A LostError says that a call lost its worker: the worker ended, was killed, or violated the protocol.
type LostError struct {
	Overdue  bool  // the worker was killed because this call was overdue
	Answered bool  // the guest had answered something
	Changed  bool  // the guest had asked a service for something that may change something
	Err      error // the cause
}

// Error implements [error].
func (e *LostError) Error() string { return e.Err.Error() }

// Is implements [errors.Is]: the error is [guest.ErrProcessLost], unless the parent has killed the worker for the call.
func (e *LostError) Is(target error) bool { return target == guest.ErrProcessLost && !e.Overdue }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// errorOf returns the error in the worker's last message of a call; nil for success. It checks it as it checks messages
// of guests.
func errorOf(m *protocol.Done) error {
	if m.Code == abi.CodeOK {
		return nil
	}
	if m.Code > abi.CodeHostCalls || m.Code > abi.CodeInputRequired && m.Code < abi.CodeTrap {
		return protocol.Errorf("unknown code %d", uint32(m.Code))
	}
	err := guest.PublicError(m.Code, &abi.GuestError{
		Message: m.Message, Data: m.Data, RetryAfterMillis: uint64(m.RetryAfter / time.Millisecond),
	})
	var e *abi.Error
	if m.Cause == "" || !errors.As(err, &e) {
		return err
	}
	if len(m.Stack) > 0 {
		return e.Because(abi.NewCrash(m.Cause, m.Stack))
	}
	return e.Because(errors.New(m.Cause))
}
