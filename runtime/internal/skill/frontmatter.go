package skill

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/strict"
)

const (
	maxFrontmatter = 64 << 10 // bytes
	maxName        = 64       // bytes
	maxDescription = 1024     // characters
	fence          = "---"

	maxCompatibility = 500 // characters
)

var validName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// ParseFrontmatter returns the frontmatter at the beginning of a SKILL.md as a JSON object. The skill must have the name and a
// description. Anchors, aliases and tags of YAML are refused, as package strict refuses them.
func ParseFrontmatter(text, name string) (string, error) {
	yaml, ok := cutFrontmatter(text)
	if !ok {
		return "", invalid("SKILL.md does not begin with frontmatter between lines of %q, of at most %d bytes", fence, maxFrontmatter)
	}
	root, err := strict.Parse("SKILL.md", []byte(yaml))
	if err != nil {
		return "", invalid("%.512v", err)
	}
	if root.Kind != strict.Mapping {
		return "", invalid("the frontmatter of SKILL.md is %v, expected keys and values", root.Kind)
	}
	own, _ := root.Get("name")
	if own.Kind != strict.Text || own.Text != name || len(name) > maxName || !validName.MatchString(name) {
		return "", invalid("the name in SKILL.md is %.80q, expected the name %.80q of its directory, in small letters, digits and hyphens",
			own.Text, name)
	}
	description, _ := root.Get("description")
	if n := len([]rune(description.Text)); description.Kind != strict.Text || n == 0 || n > maxDescription {
		return "", invalid("SKILL.md needs a description of 1 to %d characters", maxDescription)
	}
	if err := checkOptional(root); err != nil {
		return "", err
	}
	b, err := appendJSON(nil, root)
	return string(b), err
}

// checkOptional checks the fields that the Agent Skills specification allows. A client may refuse a whole list for one that is wrong.
func checkOptional(root strict.Node) error {
	c, ok := root.Get("compatibility")
	if n := len([]rune(c.Text)); ok && (c.Kind != strict.Text || n == 0 || n > maxCompatibility) {
		return invalid("the compatibility in SKILL.md must be a text of 1 to %d characters", maxCompatibility)
	}
	metadata, ok := root.Get("metadata")
	if !ok {
		return nil
	}
	if metadata.Kind != strict.Mapping {
		return invalid("the metadata in SKILL.md is %v, expected keys and values", metadata.Kind)
	}
	for _, e := range metadata.Entries {
		if e.Value.Kind != strict.Text {
			return invalid("the metadata %.40q in SKILL.md is %v, expected a text: put it in quotes", e.Key.Text, e.Value.Kind)
		}
	}
	return nil
}

func invalid(format string, args ...any) error {
	return abi.Errorf(abi.CodeInvalidParams, format, args...)
}

// cutFrontmatter returns the lines between the first two fences.
func cutFrontmatter(text string) (yaml string, ok bool) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(text, "\ufeff"), "\n")
	if strings.TrimRight(first, " \t\r") != fence {
		return "", false
	}
	for at := 0; at < min(len(rest), maxFrontmatter); {
		line, _, whole := strings.Cut(rest[at:], "\n")
		if strings.TrimRight(line, " \t\r") == fence {
			return rest[:at], true
		}
		if !whole {
			break
		}
		at += len(line) + 1
	}
	return "", false
}

// appendJSON appends a value as JSON.
func appendJSON(b []byte, n strict.Node) (_ []byte, err error) {
	switch n.Kind {
	case strict.Mapping:
		return appendObject(b, n)
	case strict.Sequence:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendJSON(b, item); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case strict.Null:
		return append(b, "null"...), nil
	case strict.Boolean:
		return strconv.AppendBool(b, strings.EqualFold(n.Text, "true")), nil
	case strict.Number:
		return appendNumber(b, n.Text)
	}
	quoted, err := json.Marshal(n.Text)
	return append(b, quoted...), err
}

func appendObject(b []byte, n strict.Node) (_ []byte, err error) {
	b = append(b, '{')
	for i, e := range n.Entries {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(e.Key.Text)
		if err != nil {
			return nil, err
		}
		if b, err = appendJSON(append(append(b, key...), ':'), e.Value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendNumber appends a number, which YAML may write in other ways than JSON.
func appendNumber(b []byte, text string) ([]byte, error) {
	if json.Valid([]byte(text)) {
		return append(b, text...), nil
	}
	if i, err := strconv.ParseInt(text, 0, 64); err == nil && !strings.Contains(text, "_") {
		return strconv.AppendInt(b, i, 10), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, invalid("the number %.40q in the frontmatter of SKILL.md is none of JSON: put it in quotes", text)
	}
	number, err := json.Marshal(f) // refuses infinity
	if err != nil {
		return nil, invalid("the number %.40q in the frontmatter of SKILL.md is none of JSON: put it in quotes", text)
	}
	return append(b, number...), nil
}
