package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// quote returns s as a JSON string without control characters.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // does not fail: a string, into memory
	out := strings.TrimSuffix(b.String(), "\n")
	if strings.IndexFunc(out, unicode.IsControl) < 0 {
		return out
	}
	b.Reset()
	for _, r := range out {
		if unicode.IsControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// word returns s as one word of a line: unchanged or, if it is empty or has quotes, spaces or control characters, as a
// JSON string.
func word(s string) string {
	special := func(r rune) bool { return r == '"' || unicode.IsSpace(r) || unicode.IsControl(r) }
	if s != "" && strings.IndexFunc(s, special) < 0 {
		return s
	}
	return quote(s)
}

// pair returns an option, as in name=Ada. The name must not be empty or have an equals sign.
func pair(name, value string) string {
	if value == "" {
		return word(name) + "="
	}
	return word(name) + "=" + word(value)
}

// split returns the words of a line. A JSON string is a word or a part of one.
func split(line string) (words []string, err error) {
	var current strings.Builder
	inWord := false
	for line != "" {
		switch c := line[0]; c {
		case ' ', '\t':
			if inWord {
				words = append(words, current.String())
				current.Reset()
				inWord = false
			}
			line = line[1:]
		case '"':
			n := quoted(line)
			var s string
			if n == 0 || json.Unmarshal([]byte(line[:n]), &s) != nil {
				return nil, errors.New("a quoted word is not a JSON string: end it with a quote, and write quotes in it as \\\"")
			}
			current.WriteString(s)
			inWord, line = true, line[n:]
		default:
			current.WriteByte(c)
			inWord, line = true, line[1:]
		}
	}
	if inWord {
		words = append(words, current.String())
	}
	return words, nil
}

// quoted returns the length of the JSON string at the start of line; 0 if it does not end.
func quoted(line string) int {
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
