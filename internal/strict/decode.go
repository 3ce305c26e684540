package strict

import (
	"fmt"
	"reflect"
	"slices"
)

// Decode reads text into the value that into points to, a zero struct or [Converter]. name stands for the file in the
// error, which is [Problems]. After an error, the value is incomplete.
func (f *Format) Decode(name string, text []byte, into any) error {
	_, err := f.DecodeNode(name, text, into)
	return err
}

// DecodeNode is [Format.Decode], and also returns the value that text is made of, which has the places of problems that
// the caller finds.
func (f *Format) DecodeNode(name string, text []byte, into any) (Node, error) {
	d := &decoder{format: f, reader: reader{file: name}}
	root, ok := d.tree(text)
	if ok {
		d.value(root, reflect.ValueOf(into).Elem(), field{})
	}
	return root, d.err()
}

type decoder struct {
	reader
	format *Format
}

// value reads n into v, and validates it when it has no problems. f describes v.
func (d *decoder) value(n Node, v reflect.Value, f field) {
	before := len(d.problems)
	var check func() error
	if c, ok := v.Addr().Interface().(Converter); ok {
		inFile := reflect.New(reflect.TypeOf(c.ToFile())).Elem()
		d.value(n, inFile, f)
		check = func() error { return c.FromFile(inFile.Interface()) }
	} else {
		d.plain(n, v, f)
		if c, ok := v.Addr().Interface().(Validator); ok {
			check = c.Validate
		}
	}
	if check == nil || len(d.problems) > before {
		return
	}
	if err := check(); err != nil {
		d.fail(n, "%v", err)
	}
}

// plain reads n into v, whose type has itself in the file.
func (d *decoder) plain(n Node, v reflect.Value, f field) {
	switch t := v.Type(); {
	case isScalar(t, f.check):
		d.scalar(n, v, d.format.rule(t, f.check))
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		d.value(n, v.Elem(), f)
	case t.Kind() == reflect.Struct:
		d.record(n, v)
	case t.Kind() == reflect.Slice:
		d.list(n, v, f)
	default:
		d.dict(n, v, f)
	}
}

func (d *decoder) scalar(n Node, v reflect.Value, rule Rule) {
	if !slices.Contains(rule.kinds, n.Kind) {
		d.want(n, rule.kinds[0])
		return
	}
	read, err := rule.parse(n.Text)
	if err != nil {
		d.fail(n, "%v", err)
		return
	}
	v.Set(reflect.ValueOf(read).Convert(v.Type()))
}

// record reads a mapping into a struct. It reports no key as missing beside one that is unknown, since that is often
// the missing one, misspelt.
func (d *decoder) record(n Node, v reflect.Value) {
	if !d.want(n, Mapping) {
		return
	}
	fields := fieldsOf(v.Type())
	unknown := false
	for _, e := range n.Entries {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == e.Key.Text })
		if i < 0 {
			unknown = true
			d.fail(e.Key, "unknown key %q: %s", Clip(e.Key.Text), d.format.suggestKey(e.Key.Text, fields))
			continue
		}
		d.value(e.Value, v.Field(fields[i].index), fields[i])
	}
	for _, f := range fields {
		if _, ok := n.Get(f.name); f.required && !ok && !unknown {
			d.fail(n, "the key %q is missing", f.name)
		}
	}
}

func (d *decoder) list(n Node, v reflect.Value, f field) {
	switch {
	case !d.want(n, Sequence):
		return
	case len(n.Items) > MaxEntries:
		d.fail(n, "the list has %d entries, at most %d are allowed", len(n.Items), MaxEntries)
		return
	case len(n.Items) == 0 && f.nonempty:
		d.fail(n, "the list is empty: remove the key, or add an entry")
		return
	}
	before := len(d.problems)
	v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	for i, item := range n.Items {
		d.value(item, v.Index(i), f.entry())
	}
	if f.unique == "" || len(d.problems) > before {
		return
	}
	seen := map[string]bool{}
	for i := range v.Len() {
		name := fmt.Sprint(v.Index(i).FieldByName(f.unique))
		if seen[name] {
			d.fail(n, "%q is here twice", Clip(name))
			return
		}
		seen[name] = true
	}
}

// dict reads a mapping into a map.
func (d *decoder) dict(n Node, v reflect.Value, f field) {
	if !d.want(n, Mapping) {
		return
	}
	if len(n.Entries) > MaxEntries {
		d.fail(n, "there are %d keys, at most %d are allowed", len(n.Entries), MaxEntries)
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, e := range n.Entries {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if _, err := d.format.rule(key.Type(), f.keys).parse(e.Key.Text); err != nil {
			d.fail(e.Key, "the key %q: %v", Clip(e.Key.Text), err)
		}
		key.SetString(e.Key.Text)
		d.value(e.Value, value, f.entry())
		v.SetMapIndex(key, value)
	}
}
