package clientconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonc edits JSON, with or without comments and trailing commas. What it adds is plain JSON.
type jsonc struct{}

// maxDepth bounds objects and lists in each other: the parser's stack grows with them.
const maxDepth = 200

func (jsonc) parse(b []byte) (*node, error) {
	if isBlank(b) {
		return &node{kind: object}, nil
	}
	v, err := parseJSON(b)
	if err != nil {
		return nil, err
	}
	r := jsonReader{text: b, line: 1}
	n, err := r.node(&v)
	if err != nil {
		return nil, err
	}
	if n.kind != object {
		return nil, syntaxf(n.line, "the configuration is not an object")
	}
	return n, nil
}

func parseJSON(b []byte) (hujson.Value, error) {
	if at := tooDeep(b); at >= 0 {
		return hujson.Value{}, syntaxf(lineOf(b, at), "objects and lists are nested deeper than %d", maxDepth)
	}
	v, err := hujson.Parse(b)
	if err == nil {
		return v, nil
	}
	problem := strings.TrimPrefix(err.Error(), "hujson: ")
	var line, column int
	if n, _ := fmt.Sscanf(problem, "line %d, column %d:", &line, &column); n == 2 {
		_, problem, _ = strings.Cut(problem, ": ")
	}
	return v, syntaxf(line, "not JSON: %s", problem)
}

// tooDeep returns the offset at which a text is nested deeper than maxDepth; -1 if it is not. It reads the tokens as the
// parser does, so it sees at least the depth that the parser reaches.
func tooDeep(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			i = skipComment(b, i)
		}
	}
	return -1
}

// skipComment returns the offset of the last byte of the comment that begins at i; i if none does.
func skipComment(b []byte, i int) int {
	mark, length := "\n", 1
	switch {
	case bytes.HasPrefix(b[i:], []byte("//")):
	case bytes.HasPrefix(b[i:], []byte("/*")):
		mark, length = "*/", 2
	default:
		return i
	}
	end := bytes.Index(b[i+2:], []byte(mark))
	if end < 0 {
		return len(b) - 1
	}
	return i + 2 + end + length - 1
}

// A jsonReader turns values of the parser into nodes, in the order of the text.
type jsonReader struct {
	text   []byte
	offset int // up to which lines are counted
	line   int
}

func (r *jsonReader) node(v *hujson.Value) (*node, error) {
	r.line += bytes.Count(r.text[r.offset:v.StartOffset], []byte("\n"))
	r.offset = v.StartOffset
	n := &node{line: r.line}
	switch value := v.Value.(type) {
	case *hujson.Object:
		n.kind = object
		for i := range value.Members {
			m := &value.Members[i]
			item, err := r.node(&m.Value)
			if err != nil {
				return nil, err
			}
			n.names, n.items = append(n.names, nameOf(m)), append(n.items, item)
		}
	case *hujson.Array:
		n.kind = list
		for i := range value.Elements {
			item, err := r.node(&value.Elements[i])
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case hujson.Literal:
		if n.text = string(value); value.Kind() == '"' {
			n.kind, n.text = text, value.String()
		}
	}
	return n, nil
}

func nameOf(m *hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// member returns the index of a name in an object; -1 if it is not there. Names that are there twice are an error: clients
// differ in which of them counts.
func member(b []byte, o *hujson.Object, name string) (int, error) {
	found := -1
	for i := range o.Members {
		if nameOf(&o.Members[i]) != name {
			continue
		}
		if found >= 0 {
			return 0, syntaxf(lineOf(b, o.Members[i].Name.StartOffset), "%q is here twice: remove one of them", name)
		}
		found = i
	}
	return found, nil
}

// objectAt returns the object at the end of a path of names; nil if a name is not there.
func objectAt(b []byte, v *hujson.Value, path ...string) (*hujson.Value, *hujson.Object, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, nil, syntaxf(lineOf(b, v.StartOffset), "this is not an object")
	}
	if len(path) == 0 {
		return v, o, nil
	}
	i, err := member(b, o, path[0])
	if i < 0 || err != nil {
		return nil, nil, err
	}
	return objectAt(b, &o.Members[i].Value, path[1:]...)
}

func (jsonc) add(b []byte, table, entry string, fields []field) ([]byte, error) {
	if isBlank(b) {
		b = []byte("{}\n")
	}
	v, err := parseJSON(b)
	if err != nil {
		return nil, err
	}
	in, _, err := objectAt(b, &v, table)
	if err != nil {
		return nil, err
	}
	w := writerOf(b, &v)
	if in == nil {
		return w.insert(b, &v, table, []field{{name: entry, value: fields}}), nil
	}
	return w.insert(b, in, entry, fields), nil
}

func (jsonc) set(b []byte, table, entry string, f field) ([]byte, error) {
	v, err := parseJSON(b)
	if err != nil {
		return nil, err
	}
	in, o, err := objectAt(b, &v, table, entry)
	if err != nil {
		return nil, err
	}
	i, err := member(b, o, f.name)
	if err != nil {
		return nil, err
	}
	w := writerOf(b, &v)
	if i < 0 {
		return w.insert(b, in, f.name, f.value), nil
	}
	m := &o.Members[i]
	value := w.value(f.value, indentAt(b, m.Name.StartOffset))
	if !beginsLine(b, m.Name.StartOffset) {
		value = compact(value)
	}
	return splice(b, m.Value.StartOffset, m.Value.EndOffset, value), nil
}

func (jsonc) remove(b []byte, table, entry string) ([]byte, error) {
	v, err := parseJSON(b)
	if err != nil {
		return nil, err
	}
	in, o, err := objectAt(b, &v, table)
	if err != nil {
		return nil, err
	}
	i, err := member(b, o, entry)
	if err != nil {
		return nil, err
	}
	if len(o.Members) == 1 && isBlank(o.Members[0].Name.BeforeExtra) && isBlank(o.AfterExtra) {
		return splice(b, in.StartOffset, in.EndOffset, "{}"), nil
	}
	m, last := &o.Members[i], i == len(o.Members)-1
	from, to := m.Name.StartOffset, m.Value.EndOffset
	if !last || m.Value.AfterExtra != nil {
		to += len(m.Value.AfterExtra) + 1 // the comma
	}
	b = cut(b, from, to)
	if last && i > 0 && m.Value.AfterExtra == nil {
		comma := &o.Members[i-1].Value
		at := comma.EndOffset + len(comma.AfterExtra)
		b = splice(b, at, at+1, "")
	}
	return b, nil
}

// cut removes a part of a text, and the line on which it stood alone.
func cut(b []byte, from, to int) []byte {
	start, end := lineStart(b, from), lineEnd(b, to)
	if isBlank(b[start:from]) && isBlank(b[to:end]) {
		return splice(b, start, end, "")
	}
	for from > start && b[from-1] == ' ' {
		from--
	}
	return splice(b, from, to, "")
}

// A jsonWriter writes values as the rest of a text is laid out.
type jsonWriter struct {
	unit    string // of indentation
	newline string
}

func writerOf(b []byte, root *hujson.Value) jsonWriter {
	w := jsonWriter{unit: "  ", newline: newlineOf(b)}
	o, ok := root.Value.(*hujson.Object)
	if !ok || len(o.Members) == 0 {
		return w
	}
	if at := o.Members[0].Name.StartOffset; beginsLine(b, at) {
		outer := indentAt(b, root.StartOffset)
		if unit := strings.TrimPrefix(indentAt(b, at), outer); unit != "" {
			w.unit = unit
		}
	}
	return w
}

// beginsLine reports whether only white space is before an offset on its line.
func beginsLine(b []byte, offset int) bool { return isBlank(b[lineStart(b, offset):offset]) }

// insert adds a member at the end of an object.
func (w jsonWriter) insert(b []byte, in *hujson.Value, name string, value any) []byte {
	o := in.Value.(*hujson.Object)
	closing := in.EndOffset - 1
	base := indentAt(b, in.StartOffset)
	if len(o.Members) == 0 {
		inner := strings.TrimRight(string(b[in.StartOffset+1:closing]), " \t\r\n")
		return splice(b, in.StartOffset+1, closing, inner+w.newline+base+w.unit+w.member(name, value, base+w.unit)+w.newline+base)
	}
	last := &o.Members[len(o.Members)-1].Value
	after, comma := last.EndOffset, ""
	if last.AfterExtra != nil {
		after, comma = after+len(last.AfterExtra)+1, ","
	}
	first := o.Members[0].Name.StartOffset
	if !beginsLine(b, first) {
		more := " " + quoteJSON(name) + ": " + compact(w.value(value, "")) + comma
		if comma == "" {
			more = "," + more
		}
		return splice(b, after, after, more)
	}
	indent := indentAt(b, first)
	more := w.newline + indent + w.member(name, value, indent) + comma
	at := endOfLine(b, after, closing)
	if at == closing { // the brace is on the line of the last member
		more += w.newline + base
	}
	b = splice(b, at, at, more)
	if comma == "" {
		b = splice(b, after, after, ",")
	}
	return b
}

// endOfLine returns the offset of the line break after an offset, which is not in a comment, or the end of the white space and
// comments up to closing.
func endOfLine(b []byte, at, closing int) int {
	for i := at; i < closing; i++ {
		switch b[i] {
		case '\n':
			if i > at && b[i-1] == '\r' {
				return i - 1
			}
			return i
		case '/':
			if end := skipComment(b, i); b[end] == '\n' {
				i = end - 1
			} else {
				i = end
			}
		}
	}
	return closing
}

func (w jsonWriter) member(name string, value any, indent string) string {
	return quoteJSON(name) + ": " + w.value(value, indent)
}

// value writes a value whose first line is indented already.
func (w jsonWriter) value(value any, indent string) string {
	inner := indent + w.unit
	switch v := value.(type) {
	case string:
		return quoteJSON(v)
	case []string:
		var items []string
		for _, s := range v {
			items = append(items, quoteJSON(s))
		}
		return w.block("[", "]", items, indent)
	case map[string]string:
		var items []string
		for _, name := range sortedNames(v) {
			items = append(items, w.member(name, v[name], inner))
		}
		return w.block("{", "}", items, indent)
	case []field:
		var items []string
		for _, f := range v {
			items = append(items, w.member(f.name, f.value, inner))
		}
		return w.block("{", "}", items, indent)
	}
	return literal(value)
}

// block writes items on lines of their own.
func (w jsonWriter) block(opening, closing string, items []string, indent string) string {
	if len(items) == 0 {
		return opening + closing
	}
	line := w.newline + indent + w.unit
	return opening + line + strings.Join(items, ","+line) + w.newline + indent + closing
}

// compact writes a value on one line.
func compact(value string) string {
	var out bytes.Buffer
	_ = json.Compact(&out, []byte(value)) // it fails only for text that is not JSON
	return out.String()
}

// quoteJSON writes a string for JSON; it is as good for YAML and TOML, but for DEL, which names and paths here do not have.
func quoteJSON(s string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string never fails
	return strings.TrimSuffix(out.String(), "\n")
}
