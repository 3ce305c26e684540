package worker

import (
	"errors"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/sandbox"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// quote is how a call ended, as far as the worker is to be believed; nil for success.
func quote(m *protocol.Done) error {
	if m.Code == abi.CodeOK {
		return nil
	}
	if m.Code > abi.CodeHostCalls || m.Code > abi.CodeInputRequired && m.Code < abi.CodeTrap {
		return protocol.Errorf("there is no code %d", uint32(m.Code))
	}
	err := sandbox.PublicError(m.Code, &abi.GuestError{
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
