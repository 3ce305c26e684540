package abi

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Code classifies the outcome of a call. Numbers are append-only. Guests and hosts may state 0 to 31; only the host
// states 32 and above. The host replaces one of those from a guest by [CodeInternal].
type Code uint32

// Outcomes a guest may answer.
const (
	CodeOK            Code = 0
	CodeNotFound      Code = 1  // no such resource
	CodeInvalidParams Code = 2  // the request makes no sense to the guest
	CodeDenied        Code = 3  // the client, or the guest, may not do this
	CodeUnavailable   Code = 4  // try again, after retry_after_ms if given
	CodeCancelled     Code = 5  // the caller does not wait for the result any longer
	CodeDeadline      Code = 6  // the time limit has passed
	CodeTooLarge      Code = 7  // more result bytes than the limit
	CodeUnsupported   Code = 8  // unknown operation or service
	CodeInternal      Code = 9  // the guest failed
	CodeInputRequired Code = 10 // reserved: the client must answer questions first
)

// Outcomes stated by the host.
const (
	CodeTrap         Code = 32 // the guest trapped: unreachable, out of bounds, division by zero
	CodeProtocol     Code = 33 // the guest broke this ABI: bad frame, bad pointer, body without content
	CodeMemory       Code = 34 // the guest ran into its memory limit
	CodeTooMany      Code = 35 // more items than the limit
	CodeInvalidText  Code = 36 // a text content is not UTF-8
	CodeInvalidURI   Code = 37 // the guest answered a URI that is malformed, could escape, or is not its own
	CodeLogLimit     Code = 38 // the guest logged more than the limit; the surplus was dropped
	CodeIncompatible Code = 39 // the module's imports or exports do not fit this ABI
	CodeModule       Code = 40 // not a WebAssembly module the engine accepts
	CodeExit         Code = 41 // the guest called proc_exit
	CodeBusy         Code = 42 // too many calls at once
	CodeFuel         Code = 43 // the guest used up the instructions one call may take
	CodeStack        Code = 44 // the guest's calls are nested too deep
	CodeHostCalls    Code = 45 // the guest called the host more often than one call may
)

var codeNames = map[Code]string{
	CodeOK: "ok", CodeNotFound: "not_found", CodeInvalidParams: "invalid_params", CodeDenied: "denied",
	CodeUnavailable: "unavailable", CodeCancelled: "cancelled", CodeDeadline: "deadline", CodeTooLarge: "too_large",
	CodeUnsupported: "unsupported", CodeInternal: "internal", CodeInputRequired: "input_required",
	CodeTrap: "trap", CodeProtocol: "protocol", CodeMemory: "memory", CodeTooMany: "too_many",
	CodeInvalidText: "invalid_text", CodeInvalidURI: "invalid_uri", CodeLogLimit: "log_limit",
	CodeIncompatible: "incompatible", CodeModule: "module", CodeExit: "exit", CodeBusy: "busy",
	CodeFuel: "fuel", CodeStack: "stack", CodeHostCalls: "host_calls",
}

// String returns the stable name used in logs, metrics and error data, as in "not_found".
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("code_%d", uint32(c))
}

// FromGuest returns the Code for a guest's status. It is [CodeInternal] when the status is unknown or reserved to the
// host.
func FromGuest(status uint32) Code {
	if status <= uint32(CodeInputRequired) {
		return Code(status)
	}
	return CodeInternal
}

// An Error is a failed call. Code and Message may be shown to guests and clients; Cause is for the log only.
type Error struct {
	Code       Code
	Message    string        // short, public
	Data       string        // public JSON text; empty for none
	RetryAfter time.Duration // zero when unknown
	Cause      error         // private; nil for none
}

// Error returns the public text only.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Code.String()
	}
	return e.Message
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an Error with a public message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Busy makes an Error of CodeBusy. The caller may try again after that time.
func Busy(retryAfter time.Duration, message string) *Error {
	return &Error{Code: CodeBusy, Message: message, RetryAfter: retryAfter}
}

// Because sets the private cause and returns e.
func (e *Error) Because(cause error) *Error {
	e.Cause = cause
	return e
}

// CodeOf classifies any error: nil is [CodeOK], an [Error] anywhere in the chain gives its code, context errors give
// [CodeDeadline] and [CodeCancelled], everything else is [CodeInternal]. An error is never [CodeOK].
func CodeOf(err error) Code {
	if err == nil {
		return CodeOK
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		if e == nil || e.Code == CodeOK {
			return CodeInternal
		}
		return e.Code
	case errors.Is(err, context.DeadlineExceeded):
		return CodeDeadline
	case errors.Is(err, context.Canceled):
		return CodeCancelled
	}
	return CodeInternal
}
