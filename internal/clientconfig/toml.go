package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFormat edits TOML. It edits servers in tables of their own, [TABLE.ENTRY], which are what clients write.
type tomlFormat struct{}

func (tomlFormat) parse(b []byte) (*node, error) {
	var root map[string]any
	if err := toml.Unmarshal(b, &root); err != nil {
		line := 0
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			line, _ = at.Position()
		}
		return nil, syntaxf(line, "not TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return tomlNode(root), nil
}

// tomlNode converts a decoded value. The names of objects are sorted: their order means nothing.
func tomlNode(value any) *node {
	switch v := value.(type) {
	case string:
		return &node{kind: text, text: v}
	case []any:
		n := &node{kind: list}
		for _, item := range v {
			n.items = append(n.items, tomlNode(item))
		}
		return n
	case map[string]any:
		n := &node{kind: object}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			n.names, n.items = append(n.names, name), append(n.items, tomlNode(v[name]))
		}
		return n
	case int64, bool:
		return &node{kind: other, text: literal(v)}
	}
	return &node{kind: other, text: fmt.Sprintf("%T %v", value, value)}
}

// A tomlLine is an expression of a text: the head of a table, or a key with its value.
type tomlLine struct {
	head  bool
	path  []string // of the table, or the table's path and the key's
	start int      // of the expression
	value int      // offset of the value, of a key
	end   int      // of the expression, without white space and comments
}

// tomlLines returns the expressions of a valid text.
func tomlLines(b []byte) (lines []tomlLine, err error) {
	p := unstable.Parser{}
	p.Reset(slices.Clip(b))
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		var key []string
		first, last := -1, 0
		for it := e.Key(); it.Next(); {
			n := it.Node()
			key = append(key, string(n.Data))
			if first < 0 {
				first = int(n.Raw.Offset)
			}
			last = int(n.Raw.Offset + n.Raw.Length)
		}
		l := tomlLine{start: first}
		switch e.Kind {
		case unstable.KeyValue:
			l.path, l.end = slices.Concat(table, key), int(e.Raw.Offset+e.Raw.Length)
			l.value = last + bytes.IndexByte(b[last:], '=') + 1
			l.value += len(b[l.value:l.end]) - len(bytes.TrimLeft(b[l.value:l.end], " \t"))
		case unstable.Table, unstable.ArrayTable:
			table = key
			l.head, l.path = true, key
			l.start = lineStart(b, first)
			l.end = last + bytes.IndexByte(b[last:], ']') + 1
			if e.Kind == unstable.ArrayTable {
				l.end++
			}
		}
		lines = append(lines, l)
	}
	return lines, p.Error()
}

// in reports whether an expression is of a table or of one below it.
func (l tomlLine) in(path ...string) bool {
	return len(l.path) >= len(path) && slices.Equal(l.path[:len(path)], path)
}

func (tomlFormat) add(b []byte, table, entry string, fields []field) ([]byte, error) {
	lines, err := tomlLines(b)
	if err != nil {
		return nil, err
	}
	nl := newlineOf(b)
	var out strings.Builder
	fmt.Fprintf(&out, "[%s.%s]%s", table, entry, nl)
	for _, f := range fields {
		fmt.Fprintf(&out, "%s = %s%s", f.name, tomlValue(f.value), nl)
	}
	at := len(b)
	for i, l := range lines {
		inTable := i == len(lines)-1 || lines[i+1].head
		if inTable && l.in(table) && len(l.path) > 1 && hasHead(lines[:i+1]) {
			at = lineEnd(b, l.end)
		}
	}
	before, after := endWithNewline(b[:at:at]), b[at:]
	lead, trail := "", ""
	if !isBlank(before) && !bytes.HasSuffix(before, []byte(nl+nl)) {
		lead = nl
	}
	if !isBlank(after) && !bytes.HasPrefix(bytes.TrimLeft(after, " \t"), []byte(nl)) {
		trail = nl
	}
	return slices.Concat(before, []byte(lead+out.String()+trail), after), nil
}

func hasHead(lines []tomlLine) bool {
	return slices.ContainsFunc(lines, func(l tomlLine) bool { return l.head })
}

// entryLines returns the indices of the expressions of an entry in a table of its own, head first. They may be apart.
func entryLines(b []byte, lines []tomlLine, table, entry string) (indices []int, err error) {
	headed := false
	for i, l := range lines {
		if l.head {
			headed = l.in(table, entry)
		}
		if !l.in(table, entry) {
			continue
		}
		if !headed || len(indices) == 0 && len(l.path) > 2 {
			return nil, syntaxf(lineOf(b, l.start), errUneditable)
		}
		indices = append(indices, i)
	}
	if len(indices) == 0 {
		return nil, syntaxf(0, errUneditable)
	}
	return indices, nil
}

func (tomlFormat) set(b []byte, table, entry string, f field) ([]byte, error) {
	lines, err := tomlLines(b)
	if err != nil {
		return nil, err
	}
	indices, err := entryLines(b, lines, table, entry)
	if err != nil {
		return nil, err
	}
	last := lines[indices[0]]
	for _, i := range indices {
		l := lines[i]
		if l.in(table, entry, f.name) {
			if l.head || len(l.path) > 3 {
				return nil, syntaxf(lineOf(b, l.start), errUneditable)
			}
			return splice(b, l.value, l.end, tomlValue(f.value)), nil
		}
		if len(l.path) == 3 && !l.head && i == indices[0]+slices.Index(indices, i) {
			last = l
		}
	}
	at := lineEnd(b, last.end)
	more := indentAt(b, last.start) + f.name + " = " + tomlValue(f.value) + newlineOf(b)
	before := endWithNewline(b[:at:at])
	return slices.Concat(before, []byte(more), b[at:]), nil
}

func (tomlFormat) remove(b []byte, table, entry string) ([]byte, error) {
	lines, err := tomlLines(b)
	if err != nil {
		return nil, err
	}
	indices, err := entryLines(b, lines, table, entry)
	if err != nil {
		return nil, err
	}
	for k := len(indices) - 1; k >= 0; {
		last := indices[k]
		for k > 0 && indices[k-1] == indices[k]-1 {
			k--
		}
		from, to := lineStart(b, lines[indices[k]].start), lineEnd(b, lines[last].end)
		k--
		b = splice(b, blankBefore(b, from), to, "")
	}
	return bytes.TrimPrefix(b, []byte(newlineOf(b))), nil
}

// blankBefore returns the offset of the blank line before an offset, or the offset.
func blankBefore(b []byte, at int) int {
	if at == 0 {
		return at
	}
	if start := lineStart(b, at-1); isBlank(b[start:at]) {
		return start
	}
	return at
}

// tomlValue writes a value on one line.
func tomlValue(value any) string {
	switch v := value.(type) {
	case string:
		return quoteTOML(v)
	case []string:
		var items []string
		for _, s := range v {
			items = append(items, quoteTOML(s))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]string:
		var items []string
		for _, name := range sortedNames(v) {
			items = append(items, quoteTOML(name)+" = "+quoteTOML(v[name]))
		}
		return "{ " + strings.Join(items, ", ") + " }"
	}
	return literal(value)
}

// quoteTOML writes a string: as JSON does, but for DEL, which TOML wants escaped.
func quoteTOML(s string) string { return strings.ReplaceAll(quoteJSON(s), "\x7f", `\u007f`) }
