package session

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode"
)

// unended is the last line of a text section whose text does not end with a newline, in the words of git.
const unended = `\ No newline at end of file`

// inline reports whether a text stands in the JSON of an answer: when JSON writes it as it is.
func inline(text string) bool { return quote(text) == `"`+text+`"` }

// appendText appends a text as it stands in a section. A line that would not come back as it was is written as a JSON
// string after a backslash.
func appendText(b []byte, text string) []byte {
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		if needsQuoting(line) {
			b = append(b, '\\')
			line = quote(line)
		}
		b = append(b, line...)
		b = append(b, '\n')
		if !ended {
			b = append(b, unended+"\n"...)
		}
	}
	return b
}

// needsQuoting reports whether a line would be taken for something else, or cannot be seen.
func needsQuoting(line string) bool {
	hidden := func(r rune) bool { return r != '\t' && unicode.IsControl(r) }
	return strings.HasPrefix(line, `\`) || strings.HasPrefix(line, "-- ") || strings.IndexFunc(line, hidden) >= 0
}

var errEscape = errors.New(`a line of a text that begins with \ goes on with a JSON string, which is the line`)

// parseText reads what appendText has written.
func parseText(section string) (string, error) {
	section, isUnended := strings.CutSuffix(section, unended+"\n")
	var b strings.Builder
	for line := range strings.Lines(section) {
		line = strings.TrimSuffix(line, "\n")
		escaped, ok := strings.CutPrefix(line, `\`)
		switch {
		case !ok:
			b.WriteString(line)
		default:
			var s string
			if json.Unmarshal([]byte(escaped), &s) != nil {
				return "", errEscape
			}
			b.WriteString(s)
		}
		b.WriteByte('\n')
	}
	if isUnended {
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	return b.String(), nil
}
