package main

import (
	"cmp"
	"errors"
	"strings"
	"sync"

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

// denials are the calls of a provider that it was not permitted, while a person looks at it. It is safe for concurrent
// use.
type denials struct {
	mu  sync.Mutex
	all []app.Denial // guarded by mu
}

func (d *denials) add(one app.Denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, one)
}

// take gives those that were added since.
func (d *denials) take() []app.Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.all
	d.all = nil
	return all
}

// explain says of which request err is the failure, and what may help: of what the provider was denied, the last is said
// to be the reason of a denial, and the rest are warnings.
func explain(c *cli.Context, a *app.App, args []string, denied *denials, err error) error {
	all := denied.take()
	isDenied := abi.CodeOf(err) == abi.CodeDenied
	why := ""
	if last := len(all) - 1; isDenied && last >= 0 {
		why, all = all[last].String(), all[:last]
	}
	for _, d := range all {
		a.Warn(d.String())
	}
	var usage usageError
	if err == nil || errors.As(err, &usage) {
		return err
	}
	if isDenied && why == "" {
		a.WarnMissingGrants()
	}
	var said *failure
	if !errors.As(err, &said) {
		err = worded(err)
	}
	text := err.Error()
	switch {
	case why != "" && text == words[abi.CodeDenied]:
		text = why
	case why != "":
		text = why + "; the provider says: " + text
	}
	subject := c.Command.Name
	if about := args[1:]; len(about) > 0 {
		subject += " " + about[0]
	}
	return &failure{text: subject + ": " + text, cause: err}
}
