package rollout

import (
	"errors"
	"slices"

	"github.com/wasmres/wasmres/abi"
)

// faults are the codes of calls that ended by a fault of the guest, as the host has seen it. Errors that a provider answers
// are none.
var faults = []abi.Code{
	abi.CodeDeadline, abi.CodeTrap, abi.CodeProtocol, abi.CodeMemory, abi.CodeTooMany, abi.CodeInvalidText, abi.CodeInvalidURI,
	abi.CodeExit, abi.CodeFuel, abi.CodeStack, abi.CodeHostCalls,
}

// isFault reports whether a call ended by a fault of the guest: one of faults, a crash, or the end of its process, which is
// unavailable for a reason of the host's.
func isFault(err error) bool {
	if err == nil {
		return false
	}
	if crash := (*abi.Crash)(nil); errors.As(err, &crash) || slices.Contains(faults, abi.CodeOf(err)) {
		return true
	}
	e := (*abi.Error)(nil)
	return errors.As(err, &e) && e != nil && e.Code == abi.CodeUnavailable && e.Cause != nil
}
