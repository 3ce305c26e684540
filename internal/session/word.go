package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// quote gives s as a JSON string without control characters.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // of a string into memory never fails
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

// word writes s so that it is one word of a line: as it is or, where that would not do, as a JSON string.
func word(s string) string {
	odd := func(r rune) bool { return r == '"' || unicode.IsSpace(r) || unicode.IsControl(r) }
	if s != "" && strings.IndexFunc(s, odd) < 0 {
		return s
	}
	return quote(s)
}

// pair writes an argument, as in name=Ada. The name is not empty and has no =.
func pair(name, value string) string {
	if value == "" {
		return word(name) + "="
	}
	return word(name) + "=" + word(value)
}

// split gives the words of a line. A JSON string in it stands for what it says, alone or as a part of a word.
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
				return nil, errors.New("a quoted word is not a JSON string")
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

// quoted gives the length of the string that line begins with; 0 when it does not end.
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
