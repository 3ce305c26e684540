package main

import (
	"cmp"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
)

// words are what is said of a failure nobody gave words of their own.
var words = map[abi.Code]string{
	abi.CodeNotFound:      "no such resource (see 'wasmres list' and 'wasmres templates')",
	abi.CodeInvalidParams: "the provider cannot make sense of the request",
	abi.CodeDenied:        "the provider refused",
	abi.CodeUnavailable:   "the provider cannot answer now, try again later",
	abi.CodeCancelled:     "cancelled",
	abi.CodeDeadline:      "the time limit has passed",
	abi.CodeTooLarge:      "the result is too large",
	abi.CodeUnsupported:   "the provider does not support this",
}

// A failure is a request that failed, in words for people.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.cause }

// worded gives a failure its words: the provider's own, if it gave some.
func worded(err error) error {
	var e *abi.Error
	if !errors.As(err, &e) {
		return err
	}
	return &failure{text: wordsOf(e), cause: err}
}

func wordsOf(e *abi.Error) string {
	switch rest, ours := strings.CutPrefix(e.Message, "The provider "); {
	case e.Code == abi.CodeInvalidText:
		return "the provider sent a text that is not UTF-8"
	case ours:
		return "the provider " + rest
	case e.Message != "" && e.Message != e.Code.String():
		return e.Message
	}
	return cmp.Or(words[e.Code], "the provider failed")
}

// explain says of which request err is the failure, and what may help.
func explain(c *cli.Context, a *app.App, args []string, err error) error {
	var usage usageError
	if err == nil || errors.As(err, &usage) {
		return err
	}
	if abi.CodeOf(err) == abi.CodeDenied {
		a.WarnUngranted()
	}
	subject := c.Command.Name
	if about := args[1:]; len(about) > 0 {
		subject += " " + about[0]
	}
	var said *failure
	if !errors.As(err, &said) {
		err = worded(err)
	}
	return &failure{text: subject + ": " + err.Error(), cause: err}
}
