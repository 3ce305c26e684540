package session

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode"
)

// noNewline is the last line of a text section if the text does not end with a newline, as in git.
const noNewline = `\ No newline at end of file`

// isInline reports whether a text stays in the JSON of an answer: JSON need not escape it.
func isInline(text string) bool { return quote(text) == `"`+text+`"` }

// appendText appends the lines of a text section. A line that needs quoting becomes a backslash and a JSON string.
func appendText(b []byte, text string) []byte {
	for line := range strings.Lines(text) {
		line, terminated := strings.CutSuffix(line, "\n")
		if needsQuoting(line) {
			b = append(b, '\\')
			line = quote(line)
		}
		b = append(b, line...)
		b = append(b, '\n')
		if !terminated {
			b = append(b, noNewline+"\n"...)
		}
	}
	return b
}

// needsQuoting reports whether a line looks like a marker or an escape, or has control characters.
func needsQuoting(line string) bool {
	hidden := func(r rune) bool { return r != '\t' && unicode.IsControl(r) }
	return strings.HasPrefix(line, `\`) || strings.HasPrefix(line, "-- ") || strings.IndexFunc(line, hidden) >= 0
}

var errEscape = errors.New(`text section: a line that begins with \ is not a JSON string after it: write \"…" with the line in quotes`)

// parseText is the inverse of appendText.
func parseText(section string) (string, error) {
	section, unterminated := strings.CutSuffix(section, noNewline+"\n")
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
	if unterminated {
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	return b.String(), nil
}

// A mapObjects gives a copy of an answer in which f has replaced each object that may hold a text.
type mapObjects func(v *value, f func(*value) *value) *value

// mapContents replaces the contents of a read.
func mapContents(v *value, f func(*value) *value) *value {
	contents := v.get("contents")
	if contents == nil || contents.kind != kindArray {
		return v
	}
	items := make([]*value, len(contents.members))
	for i, m := range contents.members {
		items[i] = m.value
		if m.value.kind == kindObject {
			items[i] = f(m.value)
		}
	}
	return v.with("contents", array(items))
}

// mapSelf replaces the answer of a host service, which is one object.
func mapSelf(v *value, f func(*value) *value) *value { return f(v) }

// extractTexts removes the texts that JSON would have to escape.
func extractTexts(v *value, each mapObjects) (head *value, texts []string) {
	head = each(v, func(holder *value) *value {
		t := holder.get("text")
		if t == nil || t.kind != kindString || isInline(t.text) || holder.get("blob") != nil {
			return holder
		}
		texts = append(texts, t.text)
		return holder.with("text", nil)
	})
	return head, texts
}

// insertTexts puts texts into the objects that have neither a text nor a blob. With all, each of them must get one.
func insertTexts(v *value, texts []string, each mapObjects, all bool) (*value, error) {
	missing := false
	v = each(v, func(holder *value) *value {
		switch {
		case holder.get("text") != nil || holder.get("blob") != nil:
			return holder
		case len(texts) == 0:
			missing = true
			return holder
		}
		first := texts[0]
		texts = texts[1:]
		return holder.with("text", text(first))
	})
	switch {
	case missing && all:
		return nil, errTextMissing
	case len(texts) > 0:
		return nil, errTextTooMany
	}
	return v, nil
}

// appendParts appends the results of extractTexts as they stand in files.
func appendParts(b []byte, head *value, texts []string) []byte {
	b = append(head.append(b, ""), '\n')
	for _, t := range texts {
		b = append(b, "-- text --\n"...)
		b = appendText(b, t)
	}
	return b
}

var (
	errTextMissing = errors.New("a content has neither text nor blob, and no text section is left for it: add a text section")
	errTextTooMany = errors.New("one text section too many: remove it, or remove the text or blob of the content it belongs to")
)
