package policy

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A form is how values of one type stand in a file.
type form[T any] struct {
	read   func(r *reader, n node, into *T) // reads n, which may be anything
	write  func(v T) any                    // a text, bool, []any or fields; nil for what is left out
	schema schema
}

// A schema is a JSON Schema.
type schema map[string]any

// A member is one key of a record.
type member[S any] struct {
	name     string
	required bool
	kept     bool // written even when there is nothing in it
	read     func(r *reader, n node, into *S)
	write    func(from S) any
	schema   schema
}

type fields []field

type field struct {
	name  string
	value any
}

// key is a key whose value is a part of S. doc is for editors.
func key[S, T any](name, doc string, f form[T], part func(*S) *T) member[S] {
	described := maps.Clone(f.schema)
	described["description"] = doc
	return member[S]{
		name: name, schema: described,
		read:  func(r *reader, n node, into *S) { f.read(r, n, part(into)) },
		write: func(from S) any { return f.write(*part(&from)) },
	}
}

// required is a key that must be there.
func required[S any](m member[S]) member[S] { m.required = true; return m }

// kept is a key that is always written.
func kept[S any](m member[S]) member[S] { m.kept = true; return m }

// record is a mapping with known keys.
func record[S any](members ...member[S]) form[S] {
	properties := map[string]any{}
	must := []string{}
	var names []string
	for _, m := range members {
		names = append(names, m.name)
		properties[m.name] = m.schema
		if m.required {
			must = append(must, m.name)
		}
	}
	shape := schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(must) > 0 {
		shape["required"] = must
	}
	read := func(r *reader, n node, into *S) {
		if !r.want(n, mapping) {
			return
		}
		mistyped := false
		for _, e := range n.entries {
			i := slices.Index(names, e.key.text)
			if i < 0 {
				mistyped = true
				r.fail(e.key, "unknown key %q: %s", clipped(e.key.text), insteadOf(e.key.text, names))
				continue
			}
			members[i].read(r, e.value, into)
		}
		for _, name := range must {
			if _, ok := n.get(name); !ok && !mistyped {
				r.fail(n, "the key %q is missing", name)
			}
		}
	}
	write := func(v S) any {
		var out fields
		for _, m := range members {
			value := m.write(v)
			if value == nil && m.kept {
				value = fields{}
			}
			if value != nil {
				out = append(out, field{m.name, value})
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return form[S]{read, write, shape}
}

// checked holds what was read to a rule. check gives what is wrong, or nothing.
func checked[T any](f form[T], check func(T) string) form[T] {
	read := f.read
	f.read = func(r *reader, n node, into *T) {
		before := len(r.problems)
		read(r, n, into)
		if len(r.problems) > before {
			return
		}
		if wrong := check(*into); wrong != "" {
			r.fail(n, "%s", wrong)
		}
	}
	return f
}

// optional is what stands for something by being there at all.
func optional[T any](f form[T]) form[*T] {
	return form[*T]{
		read: func(r *reader, n node, into **T) {
			*into = new(T)
			f.read(r, n, *into)
		},
		write: func(v *T) any {
			if v == nil {
				return nil
			}
			if value := f.write(*v); value != nil {
				return value
			}
			return fields{}
		},
		schema: f.schema,
	}
}

// maxList bounds the entries of one list.
const maxList = 256

// list is a list of values of one form.
func list[T any](f form[T]) form[[]T] {
	return form[[]T]{
		read: func(r *reader, n node, into *[]T) {
			if !r.want(n, sequence) {
				return
			}
			if len(n.items) > maxList {
				r.fail(n, "the list has %d entries, at most %d are allowed", len(n.items), maxList)
				return
			}
			*into = make([]T, len(n.items))
			for i, item := range n.items {
				f.read(r, item, &(*into)[i])
			}
		},
		write: func(v []T) any {
			if len(v) == 0 {
				return nil
			}
			out := make([]any, len(v))
			for i := range v {
				out[i] = f.write(v[i])
			}
			return out
		},
		schema: schema{"type": "array", "items": f.schema, "maxItems": maxList},
	}
}

// some is a list that says nothing when it is empty, so that it must not be.
func some[T any](f form[[]T]) form[[]T] {
	f = checked(f, func(v []T) string {
		if len(v) == 0 {
			return "the list is empty: remove the key, or say something"
		}
		return ""
	})
	f.schema = maps.Clone(f.schema)
	f.schema["minItems"] = 1
	return f
}

// scalar is a value that is written as one word. Its zero value is left out.
func scalar[T comparable](kinds []kind, parse func(string) (T, error), format func(T) any, shape schema) form[T] {
	return form[T]{
		read: func(r *reader, n node, into *T) {
			if !slices.Contains(kinds, n.kind) {
				r.want(n, kinds[0])
				return
			}
			v, err := parse(n.text)
			if err != nil {
				r.fail(n, "%v", err)
				return
			}
			*into = v
		},
		write: func(v T) any {
			var zero T
			if v == zero {
				return nil
			}
			return format(v)
		},
		schema: shape,
	}
}

// words is a text held to a rule.
func words(parse func(string) (string, error), shape schema) form[string] {
	described := schema{"type": "string"}
	maps.Copy(described, shape)
	return scalar([]kind{text}, parse, func(s string) any { return s }, described)
}

// figure is a number with a unit, which may be left out.
func figure[T comparable](parse func(string) (T, error), format func(T) any, examples ...string) form[T] {
	shape := schema{"type": []string{"string", "integer", "number"}, "examples": examples}
	return scalar([]kind{text, number}, parse, format, shape)
}

// flag is true or false.
var flag = scalar([]kind{boolean}, strconv.ParseBool, func(v bool) any { return v }, schema{"type": "boolean"})

// ignored is a key for others.
func ignored[S any](name, doc string) member[S] {
	return member[S]{
		name: name, schema: schema{"type": "string", "description": doc},
		read:  func(r *reader, n node, _ *S) { r.want(n, text) },
		write: func(S) any { return nil },
	}
}

// constant is a key with one possible value.
func constant[S any](name, doc, value string) member[S] {
	return member[S]{
		name: name, required: true, schema: schema{"const": value, "description": doc},
		read: func(r *reader, n node, _ *S) {
			if n.kind > boolean || n.text != value {
				r.fail(n, "the %s is %q, expected %q", name, clipped(n.text), value)
			}
		},
		write: func(S) any { return value },
	}
}

// insteadOf says what to write for a key that is not known.
func insteadOf(key string, known []string) string {
	if key == "deny" {
		return "what is not allowed is denied, leave it out"
	}
	return orElse(key, known)
}

// orElse says what a word that is not known may have meant.
func orElse(typed string, known []string) string {
	if near := nearest(typed, known); near != "" {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	return "it is one of " + strings.Join(known, ", ")
}

// nearest gives the known word that a mistyped one probably was; empty when there is none.
func nearest(typed string, known []string) string {
	best, at := "", max(1, min(len(typed), maxTyped)/3)
	for _, k := range known {
		if d := distance(strings.ToLower(typed), strings.ToLower(k)); d <= at && (best == "" || d < at) {
			best, at = k, d
		}
	}
	return best
}

// maxTyped bounds the words that are compared with known ones.
const maxTyped = 64

// distance is how many letters must be put in, taken out, changed or swapped with the next to make a of b.
func distance(a, b string) int {
	if len(a) > maxTyped {
		return len(a)
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// clipped shortens a foreign word for a message.
func clipped(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
