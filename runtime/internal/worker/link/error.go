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
	Overdue  bool  // it was killed because this call had not ended in time
	Answered bool  // the guest had answered something
	Changed  bool  // the guest had asked a service for what may change something
	Err      error // what happened
}

// Error implements [error].
func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap returns what happened.
func (e *LostError) Unwrap() error { return e.Err }

// errorOf is how a call ended by what the worker sent, nil for success. It is checked as what a guest says is.
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
