package clientconfig

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// A format reads and edits texts of one syntax. Texts have no byte order mark. An empty text is an empty configuration.
// All but parse are only called with a text that parse accepts. They give errors for what they cannot edit.
type format interface {
	// parse returns the object that a text is made of. Its error is a *SyntaxError.
	parse(text []byte) (*node, error)
	// add adds a member that is not there: an entry to a table of servers, which it makes if there is none.
	add(text []byte, table, entry string, fields []field) ([]byte, error)
	// set sets one field of an entry, which may have it or not.
	set(text []byte, table, entry string, f field) ([]byte, error)
	// remove removes an entry, and all of its fields.
	remove(text []byte, table, entry string) ([]byte, error)
}

// A SyntaxError says where and why a configuration is not changed.
type SyntaxError struct {
	File    string
	Line    int // from 1; 0 if the problem is the whole file's
	Problem string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

func syntaxf(line int, format string, args ...any) error {
	return &SyntaxError{Line: line, Problem: fmt.Sprintf(format, args...)}
}

// errUneditable is the problem of an entry in a form that add, set and remove do not know.
const errUneditable = "this is written in a form that wasmres does not edit: edit it by hand"

// lineOf returns the number of the line of an offset, from 1.
func lineOf(text []byte, offset int) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }

// newlineOf returns the line break of a text.
func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// lineStart returns the offset of the beginning of the line of an offset.
func lineStart(text []byte, offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }

// lineEnd returns the offset after the line of an offset, and after its line break.
func lineEnd(text []byte, offset int) int {
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(text)
}

// indentAt returns the white space at the beginning of the line of an offset.
func indentAt(text []byte, offset int) string {
	line := text[lineStart(text, offset):]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// splice returns a text with another in the place of a part.
func splice(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}

// endWithNewline returns a text whose last line has a line break, unless it is empty.
func endWithNewline(text []byte) []byte {
	if len(text) == 0 || bytes.HasSuffix(text, []byte("\n")) {
		return text
	}
	return append(slices.Clip(text), newlineOf(text)...)
}

func isBlank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// literal writes a number or a truth value, which all syntaxes write alike.
func literal(value any) string { return fmt.Sprint(value) }
