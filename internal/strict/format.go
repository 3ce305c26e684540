package strict

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// MaxEntries bounds the entries of a list, and of a mapping that is read into a map.
const MaxEntries = 256

// A Format reads, writes and describes files of one kind. Its zero value has no rules. It is not to be changed once it
// is used, and is then safe for concurrent use.
type Format struct {
	Rules map[string]Rule   // by their names, as in the tags check and keys
	Hints map[string]string // by an unknown key: what to do, in place of a suggestion
}

// A Rule checks scalar values of one type, converts them to Go and back, and describes them. [NewRule], [TextRule] and
// [OneOf] make one.
type Rule struct {
	kinds  []Kind // of the values in a file
	parse  func(text string) (any, error)
	format func(v any) string // the YAML of a value
	schema Schema
}

// A Schema is a JSON Schema.
type Schema map[string]any

// NewRule makes the rule of values of type T, which must convert to and from the types of the fields with this rule. In
// a file they are of one of kinds; of Text when none is given. parse gets the text of a value without quotes; format
// gives its YAML.
func NewRule[T any](parse func(string) (T, error), format func(T) string, schema Schema, kinds ...Kind) Rule {
	if len(kinds) == 0 {
		kinds = []Kind{Text}
	}
	return Rule{
		kinds:  kinds,
		parse:  func(s string) (any, error) { return parse(s) },
		format: func(v any) string { return format(reflect.ValueOf(v).Convert(reflect.TypeFor[T]()).Interface().(T)) },
		schema: schema,
	}
}

// TextRule makes the rule of texts. schema describes them beyond their type; it may be nil.
func TextRule(parse func(string) (string, error), schema Schema) Rule {
	typed := Schema{"type": "string"}
	maps.Copy(typed, schema)
	return NewRule(parse, Quote, typed)
}

// OneOf makes the rule of texts that are one of known. what names such a text in errors, as in [Word].
func OneOf(what string, known ...string) Rule {
	parse := func(s string) (string, error) { return Word(what, s, known) }
	return TextRule(parse, Schema{"enum": known})
}

// A Validator is a type that checks its values. Validate is called on a value, by its pointer, once it is read without
// problems. It may fill in defaults. Its error becomes a problem at the place of the value.
type Validator interface{ Validate() error }

// A Converter is a type that has another type in the file: that of the value which ToFile gives, for a zero value too.
// FromFile is called, on a pointer, with a value of that type once it is read without problems. Its error becomes a
// problem at the place of the value.
type Converter interface {
	ToFile() any
	FromFile(v any) error
}

// converter returns v as a Converter, if its type, or a pointer to it, is one.
func converter(v reflect.Value) (Converter, bool) {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	c, ok := p.Interface().(Converter)
	return c, ok
}

// A field is a field of a struct, as its tags describe it.
type field struct {
	index              int
	name, doc          string
	check, keys        string // names of rules
	unique             string
	required, nonempty bool
}

// entry returns the part of f that is about each entry of a list or mapping.
func (f field) entry() field { return field{check: f.check} }

// knownFields has the fields of each type of struct that was asked for.
var knownFields sync.Map // of []field, by reflect.Type

// fieldsOf returns the fields of a struct that are in the file. They are not to be changed.
func fieldsOf(t reflect.Type) []field {
	if known, ok := knownFields.Load(t); ok {
		return known.([]field)
	}
	fields := readFields(t)
	knownFields.Store(t, fields)
	return fields
}

func readFields(t reflect.Type) (fields []field) {
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, options, _ := strings.Cut(tag.Get("yaml"), ",")
		if name == "" {
			continue
		}
		has := func(option string) bool { return slices.Contains(strings.Split(options, ","), option) }
		fields = append(fields, field{
			index: i, name: name, doc: tag.Get("doc"), check: tag.Get("check"), keys: tag.Get("keys"),
			unique: tag.Get("unique"), required: has("required"), nonempty: has("nonempty"),
		})
	}
	return fields
}

// isScalar reports whether values of type t are written as one word. check is the name of their rule, empty for none.
func isScalar(t reflect.Type, check string) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return false
	case reflect.Struct:
		return check != ""
	}
	return true
}

// The rules of values without one.
var (
	anyBool = NewRule(strconv.ParseBool, strconv.FormatBool, Schema{"type": "boolean"}, Boolean)
	anyText = TextRule(func(s string) (string, error) { return s, nil }, nil)
)

// rule returns the rule of name check; where that is empty, the one of type t.
func (f *Format) rule(t reflect.Type, check string) Rule {
	rule, ok := f.Rules[check]
	switch {
	case ok:
		return rule
	case check == "" && t.Kind() == reflect.Bool:
		return anyBool
	case check == "" && t.Kind() == reflect.String:
		return anyText
	}
	panic(fmt.Sprintf("strict: there is no rule %q for values of type %v", check, t))
}

// suggestKey says what to do about an unknown key.
func (f *Format) suggestKey(key string, fields []field) string {
	if hint, ok := f.Hints[key]; ok {
		return hint
	}
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].name
	}
	return Suggest(key, names)
}
