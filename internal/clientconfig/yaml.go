package clientconfig

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/internal/strict"
)

// yamlFormat edits YAML in block style, which is what clients write. It has no anchors, aliases and tags, and one document.
type yamlFormat struct{}

func (yamlFormat) parse(b []byte) (*node, error) {
	root, err := parseYAML(b)
	if err != nil {
		return nil, err
	}
	n := yamlNode(root)
	if n.isEmpty() {
		return &node{kind: object}, nil
	}
	if n.kind != object {
		return nil, syntaxf(n.line, "the configuration is not a mapping")
	}
	return n, nil
}

// parseYAML parses a text; one of comments alone is null.
func parseYAML(b []byte) (strict.Node, error) {
	if isComment(b) {
		return strict.Node{}, nil
	}
	// The parser counts a line break of two characters as two.
	root, err := strict.Parse("", bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")))
	var problems strict.Problems
	if errors.As(err, &problems) && len(problems) > 0 {
		return root, syntaxf(problems[0].Line, "%s", problems[0].Text)
	}
	return root, err
}

// isComment reports whether a text has comments and blank lines only.
func isComment(b []byte) bool {
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

func yamlNode(v strict.Node) *node {
	n := &node{line: v.Line}
	switch v.Kind {
	case strict.Mapping:
		n.kind = object
		for _, e := range v.Entries {
			n.names, n.items = append(n.names, e.Key.Text), append(n.items, yamlNode(e.Value))
		}
	case strict.Sequence:
		n.kind = list
		for _, item := range v.Items {
			n.items = append(n.items, yamlNode(item))
		}
	case strict.Text:
		n.kind, n.text = text, v.Text
	case strict.Null:
		n.text = "null"
	default:
		n.text = v.Text
	}
	return n
}

// A yamlBlock is a key of a mapping in block style, with the lines of its value.
type yamlBlock struct {
	from, to int // offsets of its lines; to is without blank lines and comments that follow
	indent   int // columns before the key
	value    strict.Node
}

// yamlBlockAt returns the block at the end of a path of keys, or reports false if a key is not there.
func yamlBlockAt(b []byte, root strict.Node, path ...string) (block yamlBlock, ok bool, err error) {
	block = yamlBlock{to: len(b), indent: -1, value: root}
	for _, key := range path {
		if block.value.Kind != strict.Mapping {
			return block, false, syntaxf(block.value.Line, errUneditable)
		}
		i := slices.IndexFunc(block.value.Entries, func(e strict.Entry) bool { return e.Key.Text == key })
		if i < 0 {
			return block, false, nil
		}
		e := block.value.Entries[i]
		if block, err = yamlBlockOf(b, e); err != nil {
			return block, false, err
		}
	}
	return block, true, nil
}

// yamlBlockOf returns the block of an entry.
func yamlBlockOf(b []byte, e strict.Entry) (yamlBlock, error) {
	block := yamlBlock{indent: e.Key.Column - 1, value: e.Value}
	block.from = offsetOfLine(b, e.Key.Line)
	if indent := indentAt(b, block.from); len(indent) != block.indent || strings.Contains(indent, "\t") {
		return block, syntaxf(e.Key.Line, errUneditable) // it is in a mapping in flow style, or in a list
	}
	block.to = lineEnd(b, block.from)
	for at := block.to; at < len(b); {
		end := lineEnd(b, at)
		line := bytes.TrimSpace(b[at:end])
		indent := len(indentAt(b, at))
		dash := indent == block.indent && e.Value.Kind == strict.Sequence && bytes.HasPrefix(line, []byte("-"))
		switch {
		case len(line) == 0, indent <= block.indent && line[0] == '#':
		case indent > block.indent || dash:
			block.to = end
		default:
			return block, nil
		}
		at = end
	}
	return block, nil
}

// offsetOfLine returns the offset of a line, from 1.
func offsetOfLine(b []byte, line int) (offset int) {
	for ; line > 1; line-- {
		offset = lineEnd(b, offset)
	}
	return offset
}

func (yamlFormat) add(b []byte, table, entry string, fields []field) ([]byte, error) {
	root, err := parseYAML(b)
	if err != nil {
		return nil, err
	}
	w := yamlWriter{newlineOf(b)}
	if root.Kind == strict.Null {
		return append(endWithNewline(b), w.field(0, table, []field{{name: entry, value: fields}})...), nil
	}
	block, found, err := yamlBlockAt(b, root, table)
	if err != nil {
		return nil, err
	}
	if !found {
		return append(endWithNewline(b), w.field(root.Column-1, table, []field{{name: entry, value: fields}})...), nil
	}
	indent := block.indent + 2
	switch {
	case block.value.Kind == strict.Mapping && len(block.value.Entries) > 0:
		first, err := yamlBlockOf(b, block.value.Entries[0])
		if err != nil {
			return nil, err
		}
		indent = first.indent
	case block.value.Kind == strict.Mapping: // {}
		if b, err = dropBraces(b, block); err != nil {
			return nil, err
		}
		block.to = lineEnd(b, block.from)
	case block.value.Kind != strict.Null:
		return nil, syntaxf(block.value.Line, errUneditable)
	}
	before := endWithNewline(b[:block.to:block.to])
	return slices.Concat(before, []byte(w.field(indent, entry, fields)), b[block.to:]), nil
}

// dropBraces removes the braces of an empty mapping, which are on the line of its key.
func dropBraces(b []byte, block yamlBlock) ([]byte, error) {
	line := b[block.from:lineEnd(b, block.from)]
	_, rest, _ := bytes.Cut(line, []byte(":"))
	rest = bytes.TrimLeft(rest, " \t")
	inner := bytes.TrimLeft(bytes.TrimPrefix(rest, []byte("{")), " \t")
	if len(rest) == 0 || rest[0] != '{' || len(inner) == 0 || inner[0] != '}' {
		return nil, syntaxf(lineOf(b, block.from), errUneditable)
	}
	to := block.from + len(line) - len(inner) + 1
	from := block.from + len(bytes.TrimRight(line[:len(line)-len(rest)], " \t"))
	return splice(b, from, to, ""), nil
}

func (yamlFormat) set(b []byte, table, entry string, f field) ([]byte, error) {
	root, err := parseYAML(b)
	if err != nil {
		return nil, err
	}
	in, found, err := yamlBlockAt(b, root, table, entry)
	if err != nil || !found {
		return nil, err
	}
	w := yamlWriter{newlineOf(b)}
	if in.value.Kind != strict.Mapping || len(in.value.Entries) == 0 {
		return nil, syntaxf(in.value.Line, errUneditable)
	}
	first, err := yamlBlockOf(b, in.value.Entries[0])
	if err != nil {
		return nil, err
	}
	old, found, err := yamlBlockAt(b, root, table, entry, f.name)
	if err != nil {
		return nil, err
	}
	if !found {
		before := endWithNewline(b[:in.to:in.to])
		return slices.Concat(before, []byte(w.field(first.indent, f.name, f.value)), b[in.to:]), nil
	}
	return splice(b, old.from, old.to, w.field(old.indent, f.name, f.value)), nil
}

func (yamlFormat) remove(b []byte, table, entry string) ([]byte, error) {
	root, err := parseYAML(b)
	if err != nil {
		return nil, err
	}
	in, _, err := yamlBlockAt(b, root, table)
	if err != nil {
		return nil, err
	}
	block, found, err := yamlBlockAt(b, root, table, entry)
	if err != nil || !found {
		return nil, err
	}
	b = splice(b, block.from, block.to, "")
	if len(in.value.Entries) > 1 {
		return b, nil
	}
	// Nothing is left: a client may not accept a key without a value.
	key := b[in.from:lineEnd(b, in.from)]
	colon := bytes.IndexByte(key, ':')
	return splice(b, in.from+colon+1, in.from+colon+1, " {}"), nil
}

// A yamlWriter writes keys and values in block style.
type yamlWriter struct{ newline string }

func (w yamlWriter) field(indent int, name string, value any) string {
	margin := strings.Repeat(" ", indent)
	head := margin + yamlWord(name) + ":"
	var out strings.Builder
	switch v := value.(type) {
	case string:
		return head + " " + yamlWord(v) + w.newline
	case []string:
		for _, s := range v {
			out.WriteString(margin + "- " + yamlWord(s) + w.newline)
		}
		if len(v) == 0 {
			return head + " []" + w.newline
		}
	case map[string]string:
		for _, key := range sortedNames(v) {
			out.WriteString(w.field(indent+2, key, v[key]))
		}
		if len(v) == 0 {
			return head + " {}" + w.newline
		}
	case []field:
		for _, f := range v {
			out.WriteString(w.field(indent+2, f.name, f.value))
		}
	default:
		return head + " " + literal(value) + w.newline
	}
	return head + w.newline + out.String()
}

// yamlWords are words that are no strings in one of the versions of YAML.
var yamlWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// yamlWord writes a string: as it is if it is a simple word, and else in quotes, as JSON does.
func yamlWord(s string) string {
	special := func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }
	if s != "" && !strings.ContainsFunc(s, special) && !slices.Contains(yamlWords, s) {
		return s
	}
	return quoteJSON(s)
}
