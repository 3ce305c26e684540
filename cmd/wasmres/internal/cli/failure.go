package cli

import (
	"cmp"
	"errors"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// ProblemOf returns the message of a [Failure] in the chain of err, or of err itself, as one line.
func ProblemOf(err error) string {
	if f := (*Failure)(nil); errors.As(err, &f) {
		err = f
	}
	return OneLine(err)
}

// DeniedMessage is the message of a denial if the provider gave none.
const DeniedMessage = "the provider refused"

// messages has, by code, the message of a failure if the provider gave none.
var messages = map[abi.Code]string{
	abi.CodeNotFound:      "no such resource (see 'wasmres list' and 'wasmres templates')",
	abi.CodeInvalidParams: "the provider cannot make sense of the request",
	abi.CodeDenied:        DeniedMessage,
	abi.CodeUnavailable:   "the provider cannot answer now, try again later",
	abi.CodeCancelled:     "cancelled",
	abi.CodeDeadline:      "the time limit has passed",
	abi.CodeTooLarge:      "the result is too large",
	abi.CodeUnsupported:   "the provider does not support this",
}

// A Failure is a failed request with a message for the user.
type Failure struct {
	Text  string // the message
	Cause error
}

// Error implements error.
func (f *Failure) Error() string { return f.Text }

func (f *Failure) Unwrap() error { return f.Cause }

// WithMessage returns an error with a code as a [Failure], with the provider's message if it gave one. It returns any
// other error as it is.
func WithMessage(err error) error {
	var e *abi.Error
	if !errors.As(err, &e) {
		return err
	}
	return &Failure{Text: messageOf(e), Cause: err}
}

func messageOf(e *abi.Error) string {
	switch rest, isOfHost := strings.CutPrefix(e.Message, "The provider "); {
	case e.Code == abi.CodeInvalidText:
		return "the provider sent a text that is not UTF-8"
	case isOfHost:
		return "the provider " + rest
	case e.Message != "" && e.Message != e.Code.String():
		return e.Message
	}
	return cmp.Or(messages[e.Code], "the provider failed")
}
