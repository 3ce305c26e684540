package guest

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/wasmres/wasmres/abi"
)

// ErrProcessLost is what the error of a call is, for [errors.Is], whose process ended while the call ran.
var ErrProcessLost = errors.New("the process has ended")

// maxCause bounds how many bytes of an error's text from a guest go to the log.
const maxCause = 2 << 10

// Truncate bounds the text of an error that guests can influence.
func Truncate(err error) error {
	text := err.Error()
	if len(text) <= maxCause {
		return errors.New(text)
	}
	return errors.New(text[:maxCause] + "…")
}

// PanicError makes the error of a panic of the host, which is not the guest's fault. It has the stack of the goroutine.
func PanicError(p any) *abi.Error {
	return (&abi.Error{Code: abi.CodeInternal}).Because(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
}
