package cli

import (
	"cmp"
	"errors"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// ProblemOf says in one line what is wrong, without how far it came.
func ProblemOf(err error) string {
	if said := (*Failure)(nil); errors.As(err, &said) {
		err = said
	}
	return OneLine(err)
}

// DeniedMessage is the message of a denial to which the provider gave none.
const DeniedMessage = "the provider refused"

// messages are what is said of a failure nobody gave words of their own.
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

// A Failure is a request that failed, in words for people.
type Failure struct {
	Text  string
	Cause error
}

func (f *Failure) Error() string { return f.Text }

func (f *Failure) Unwrap() error { return f.Cause }

// WithMessage gives a failure its words: the provider's own, if it gave some.
func WithMessage(err error) error {
	var e *abi.Error
	if !errors.As(err, &e) {
		return err
	}
	return &Failure{Text: messageOf(e), Cause: err}
}

func messageOf(e *abi.Error) string {
	switch rest, ours := strings.CutPrefix(e.Message, "The provider "); {
	case e.Code == abi.CodeInvalidText:
		return "the provider sent a text that is not UTF-8"
	case ours:
		return "the provider " + rest
	case e.Message != "" && e.Message != e.Code.String():
		return e.Message
	}
	return cmp.Or(messages[e.Code], "the provider failed")
}
