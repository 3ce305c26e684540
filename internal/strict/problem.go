package strict

import (
	"errors"
	"fmt"
)

// maxProblems bounds the problems that are reported of one file.
const maxProblems = 50

// A Problem is an error in a file, and its place.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 when the problem is the whole file's
	Text         string
}

func (p Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Problems are the problems of a file in its order, at most 50.
type Problems []Problem

func (p Problems) Error() string {
	if len(p) == 0 {
		return "no problems"
	}
	text := p[0].Error()
	if more := len(p) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// ProblemsOf returns the problems that err is made of; none when it is another error.
func ProblemsOf(err error) Problems {
	var found Problems
	errors.As(err, &found)
	return found
}

// A reader reads one file and collects its problems.
type reader struct {
	file     string
	problems Problems
}

// fail adds a problem at n, unless there are too many.
func (r *reader) fail(n Node, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{r.file, n.Line, n.Column, fmt.Sprintf(format, args...)})
	}
}

// err returns the problems, nil when there are none.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return r.problems
}

// want reports whether n is of kind k, and adds a problem when it is not.
func (r *reader) want(n Node, k Kind) bool {
	switch {
	case n.Kind == k:
		return true
	case n.Kind == Null:
		r.fail(n, "there is nothing here: remove the key, or give it %v", k)
	case k == Text && n.Kind.scalar():
		r.fail(n, "this is %v, expected a text: write it in quotes", n.Kind)
	default:
		r.fail(n, "this is %v, expected %v", n.Kind, k)
	}
	return false
}
