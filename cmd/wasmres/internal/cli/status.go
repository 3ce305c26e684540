package cli

import (
	"errors"
	"fmt"
)

// Exit statuses.
const (
	StatusOK          = 0
	StatusFailed      = 1 // the provider or the request failed
	StatusUsage       = 2
	StatusMissing     = 3 // a compiler is not installed
	StatusConflict    = 4 // something else has changed meanwhile, or belongs to another owner
	StatusUnreachable = 5 // no server answers
)

// Status returns the exit status for the error of a command; nil is StatusOK.
func Status(err error) int {
	var usage UsageError
	var missing missingTool
	var other withStatus
	switch {
	case err == nil:
		return StatusOK
	case errors.As(err, &usage):
		return StatusUsage
	case errors.As(err, &missing):
		return StatusMissing
	case errors.As(err, &other):
		return other.status
	}
	return StatusFailed
}

// A UsageError is a mistake on the command line.
type UsageError struct{ err error }

// Error implements error.
func (e UsageError) Error() string { return e.err.Error() }

func (e UsageError) Unwrap() error { return e.err }

// Usagef formats a UsageError, and adds which help to read.
func Usagef(c *Context, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	name := c.App.Name
	if c.Command != nil && c.Command.HelpName != "" {
		name = c.Command.HelpName
	}
	return UsageError{fmt.Errorf("%w (see '%s --help')", err, name)}
}

// missingTool is the error for a program that a command runs and that is not installed.
type missingTool struct{ error }

func (e missingTool) Unwrap() error { return e.error }

// MissingTool returns err with the status StatusMissing.
func MissingTool(err error) error { return missingTool{err} }

// A withStatus is an error with an exit status.
type withStatus struct {
	error
	status int
}

func (e withStatus) Unwrap() error { return e.error }

// Conflict returns err with the status StatusConflict.
func Conflict(err error) error { return withStatus{err, StatusConflict} }

// Unreachable returns err with the status StatusUnreachable.
func Unreachable(err error) error { return withStatus{err, StatusUnreachable} }
