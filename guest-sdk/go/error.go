package wasmres

import (
	"errors"
	"io/fs"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// A Code classifies a failure; the numbers are those of the ABI.
type Code uint32

// String gives the stable name of a code, as in "not_found".
func (c Code) String() string {
	switch c {
	case codeOK:
		return "ok"
	case codeNotFound:
		return "not_found"
	case codeInvalidParams:
		return "invalid_params"
	case codeDenied:
		return "denied"
	case codeUnavailable:
		return "unavailable"
	case codeCancelled:
		return "cancelled"
	case codeDeadline:
		return "deadline"
	case codeTooLarge:
		return "too_large"
	case codeUnsupported:
		return "unsupported"
	case codeInternal:
		return "internal"
	}
	return "code_" + strconv.Itoa(int(c))
}

// An Error is a failure whose Message the client may read. Of other errors a handler returns only the class is told:
// fs.ErrNotExist is not found, fs.ErrPermission denied, fs.ErrInvalid invalid, and everything else internal, with its
// text in the log.
//
// errors.Is compares codes: errors.Is(err, wasmres.ErrNotFound) holds for every Error made by [NotFound], and so does
// errors.Is(err, fs.ErrNotExist).
type Error struct {
	Code       Code
	Message    string        // short; empty for the host's own words
	Data       string        // JSON text for programs; empty for none
	RetryAfter time.Duration // with unavailable; zero when unknown
	Cause      error         // for the log only; nil for none
}

// The classes of failure, for errors.Is or to be returned as they are.
var (
	ErrNotFound    = &Error{Code: codeNotFound}
	ErrInvalid     = &Error{Code: codeInvalidParams}
	ErrDenied      = &Error{Code: codeDenied}
	ErrUnavailable = &Error{Code: codeUnavailable}
	ErrCancelled   = &Error{Code: codeCancelled}
	ErrDeadline    = &Error{Code: codeDeadline}
	ErrTooLarge    = &Error{Code: codeTooLarge}
	ErrUnsupported = &Error{Code: codeUnsupported}
	ErrInternal    = &Error{Code: codeInternal}
)

// NotFound says that there is no such resource.
func NotFound(message string) *Error { return &Error{Code: codeNotFound, Message: message} }

// Invalid says that the request makes no sense, as with a number that is none.
func Invalid(message string) *Error { return &Error{Code: codeInvalidParams, Message: message} }

// Denied says that the asker may not have this.
func Denied(message string) *Error { return &Error{Code: codeDenied, Message: message} }

// Unavailable says that it may work later: after retryAfter, or zero when unknown.
func Unavailable(message string, retryAfter time.Duration) *Error {
	return &Error{Code: codeUnavailable, Message: message, RetryAfter: retryAfter}
}

// Because gives a copy of e with a cause, which goes to the log only.
func (e *Error) Because(cause error) *Error {
	caused := *e
	caused.Cause = cause
	return &caused
}

// Error gives the message, or the name of the code when there is none.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Code.String()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is of the same class.
func (e *Error) Is(target error) bool {
	if t, ok := target.(*Error); ok {
		return t.Code == e.Code
	}
	return target == fs.ErrNotExist && e.Code == codeNotFound ||
		target == fs.ErrPermission && e.Code == codeDenied ||
		target == fs.ErrInvalid && e.Code == codeInvalidParams
}

// errEnough ends a handler early without failure: the host has all it wants.
var errEnough = errors.New("the host has enough")

// errFrame means that the SDK, or a value too large for a frame, broke the ABI.
var errFrame = errors.New("the host refused a frame")

// signalError translates a signal of the host to an error; nil means go on.
func signalError(signal int32) error {
	switch signal {
	case signalMore:
		return nil
	case signalEnough:
		return errEnough
	case signalCancelled:
		return ErrCancelled
	case signalDeadline:
		return ErrDeadline
	case signalTooLarge:
		return ErrTooLarge
	}
	return errFrame
}

// public gives what the client may know of err and writes the rest to the log.
func public(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		if e.Cause != nil {
			host.Log(logWarn, e.Cause.Error())
		}
		if e.Code == codeOK || e.Code > codeInputRequired {
			return &Error{Code: codeInternal, Message: e.Message, Data: e.Data}
		}
		return e
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case errors.Is(err, fs.ErrPermission):
		return ErrDenied
	case errors.Is(err, fs.ErrInvalid):
		return ErrInvalid
	}
	host.Log(logError, err.Error())
	return ErrInternal
}

func (e *Error) append(b []byte) []byte {
	if e.Message == "" && e.Data == "" && e.RetryAfter <= 0 {
		return b
	}
	b, at := wire.Begin(b, 5)
	b = wire.AppendString(b, 1, e.Message)
	b = wire.AppendString(b, 2, e.Data)
	b = wire.AppendUint(b, 3, millis(e.RetryAfter))
	return wire.End(b, at)
}

// millis gives d in milliseconds, rounded up; negative is 0.
func millis(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return uint64((d + time.Millisecond - 1) / time.Millisecond)
}
