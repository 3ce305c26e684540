package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Encode writes v, a struct or [Converter] or a pointer to one, as YAML that [Format.Decode] reads. Equal values give
// equal texts: keys are in the order of the fields, those of maps sorted. Fields that are not required are left out
// when they are zero, or made of zero values and empty lists.
func (f *Format) Encode(v any) []byte {
	var w writer
	w.entries(f.node(reflect.Indirect(reflect.ValueOf(v)), field{}).Entries, 0)
	return []byte(w.String())
}

// node returns v as a node, in which the text of a scalar is its YAML.
func (f *Format) node(v reflect.Value, tag field) (n Node) {
	t := v.Type()
	if c, ok := converter(v); ok {
		return f.node(reflect.ValueOf(c.ToFile()), tag)
	}
	switch {
	case isScalar(t, tag.check):
		return Node{Kind: Text, Text: f.rule(t, tag.check).format(v.Interface())}
	case t.Kind() == reflect.Pointer && v.IsNil():
		return Node{}
	case t.Kind() == reflect.Pointer:
		return f.node(v.Elem(), tag)
	case t.Kind() == reflect.Struct:
		return Node{Kind: Mapping, Entries: f.record(v)}
	case t.Kind() == reflect.Slice:
		n.Kind = Sequence
		for i := range v.Len() {
			n.Items = append(n.Items, f.node(v.Index(i), tag.entry()))
		}
		return n
	}
	n.Kind = Mapping
	byText := func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }
	for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), byText) {
		n.Entries = append(n.Entries, Entry{Node{Text: key.String()}, f.node(v.MapIndex(key), tag.entry())})
	}
	return n
}

// record returns the entries of a struct, without those that are left out.
func (f *Format) record(v reflect.Value) (entries []Entry) {
	for _, tag := range fieldsOf(v.Type()) {
		if part := v.Field(tag.index); tag.required || !isEmpty(part) {
			entries = append(entries, Entry{Node{Text: tag.name}, f.node(part, tag)})
		}
	}
	return entries
}

// isEmpty reports whether v is zero, or made of empty lists, maps and zero values alone.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		if fields := fieldsOf(v.Type()); len(fields) > 0 {
			return !slices.ContainsFunc(fields, func(f field) bool { return !isEmpty(v.Field(f.index)) })
		}
	}
	return v.IsZero()
}

// A writer writes YAML in block style, lists of scalars in brackets.
type writer struct{ strings.Builder }

func (w *writer) entries(entries []Entry, indent int) {
	for _, e := range entries {
		fmt.Fprintf(w, "%s%s:", strings.Repeat("  ", indent), Quote(e.Key.Text))
		w.value(e.Value, indent)
	}
}

// value writes the value of a key or a list entry, with the end of the line.
func (w *writer) value(n Node, indent int) {
	text, ok := flow(n)
	if ok {
		fmt.Fprintf(w, " %s\n", text)
		return
	}
	fmt.Fprintln(w)
	w.entries(n.Entries, indent+1)
	for _, item := range n.Items {
		w.item(item, indent+1)
	}
}

// item writes an entry of a list. The first key of a mapping is on the line of the dash.
func (w *writer) item(n Node, indent int) {
	lead := strings.Repeat("  ", indent)
	if len(n.Entries) == 0 {
		fmt.Fprintf(w, "%s-", lead)
		w.value(n, indent)
		return
	}
	var inner writer
	inner.entries(n.Entries, indent+1)
	fmt.Fprintf(w, "%s- %s", lead, strings.TrimPrefix(inner.String(), lead+"  "))
}

// flow returns n on one line. It reports false when n is, or contains, a mapping with keys.
func flow(n Node) (text string, ok bool) {
	switch n.Kind {
	case Mapping:
		return "{}", len(n.Entries) == 0
	case Sequence:
		words := make([]string, len(n.Items))
		for i, item := range n.Items {
			if words[i], ok = flow(item); !ok {
				return "", false
			}
		}
		return "[" + strings.Join(words, ", ") + "]", true
	}
	return n.Text, true
}

// Quote returns a text as YAML: as it stands where YAML reads it as this text, and otherwise in quotes.
func Quote(s string) string {
	letter := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == '/' }
	other := func(r rune) bool { return !letter(r) && (r < '0' || r > '9') && r != '-' && r != '.' }
	if s != "" && letter(rune(s[0])) && !strings.ContainsFunc(s, other) && !reserved(s) {
		return s
	}
	return strconv.Quote(s)
}

// reserved reports whether some version of YAML reads s as another value than a text.
func reserved(s string) bool {
	return slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s))
}

// Schema returns the JSON Schema, indented, of files that [Format.Decode] reads into values of the type of v. It lacks
// the checks of a [Validator] or [Converter].
func (f *Format) Schema(v any, title string) []byte {
	whole := maps.Clone(f.schema(reflect.TypeOf(v), field{}))
	whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	whole["title"] = title
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(whole); err != nil {
		panic(err) // a rule's schema is not JSON
	}
	return b.Bytes()
}

func (f *Format) schema(t reflect.Type, tag field) Schema {
	if c, ok := reflect.New(t).Interface().(Converter); ok {
		return f.schema(reflect.TypeOf(c.ToFile()), tag)
	}
	switch {
	case isScalar(t, tag.check):
		return f.rule(t, tag.check).schema
	case t.Kind() == reflect.Pointer:
		return f.schema(t.Elem(), tag)
	case t.Kind() == reflect.Struct:
		return f.recordSchema(t)
	case t.Kind() == reflect.Map:
		return Schema{"type": "object", "additionalProperties": f.schema(t.Elem(), tag.entry())}
	}
	list := Schema{"type": "array", "items": f.schema(t.Elem(), tag.entry()), "maxItems": MaxEntries}
	if tag.nonempty {
		list["minItems"] = 1
	}
	return list
}

func (f *Format) recordSchema(t reflect.Type) Schema {
	properties, required := Schema{}, []string{}
	for _, tag := range fieldsOf(t) {
		property := maps.Clone(f.schema(t.Field(tag.index).Type, tag))
		property["description"] = tag.doc
		properties[tag.name] = property
		if tag.required {
			required = append(required, tag.name)
		}
	}
	record := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		record["required"] = required
	}
	return record
}
