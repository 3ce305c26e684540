package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxDepth  = 100     // of a JSON text
	maxValues = 1 << 20 // of a JSON text, and of all answers of a file
	width     = 100     // columns that an object or array, its name aside, may take to stand on one line
)

// A value is a JSON value. It keeps all of its text but white space, escapes and the order of members.
type value struct {
	kind    kind
	offset  int32    // in the parsed text, at most MaxSize: of the first byte of its content, or of the end of a string or plain value
	text    string   // of a string; a number, true, false or null as written
	members []member // of an object; those of an array have no names
}

type member struct {
	name  string
	value *value
}

type kind uint8

const (
	kindPlain kind = iota // a number, true, false or null
	kindString
	kindArray
	kindObject
)

// A positionError is an error at an offset of a text.
type positionError struct {
	offset int64
	err    error
}

func (e *positionError) Error() string { return e.err.Error() }

// at adds the place of a value to an error, unless the error is nil or has a place.
func (v *value) at(err error) error {
	var position *positionError
	if err == nil || errors.As(err, &position) {
		return err
	}
	return &positionError{int64(v.offset), err}
}

func (v *value) isNull() bool { return v.kind == kindPlain && v.text == "null" }

var errBool = errors.New("write true or false")

func (v *value) bool() (bool, error) {
	if v.kind != kindPlain || v.text != "true" && v.text != "false" {
		return false, errBool
	}
	return v.text == "true", nil
}

func (v *value) string() (string, error) {
	if v.kind != kindString {
		return "", errors.New("write a text in quotes")
	}
	return v.text, nil
}

// parseValue reads a JSON text.
func parseValue(text []byte) (*value, error) {
	d := decoder{json.NewDecoder(bytes.NewReader(text)), maxValues}
	d.UseNumber()
	v, err := d.value(0)
	if err == nil {
		if _, rest := d.Token(); rest != io.EOF {
			err = errors.New("text follows the end of the JSON value: remove it")
		}
	}
	if err == nil {
		return v, nil
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the JSON value does not end")
	}
	return nil, &positionError{offset: d.InputOffset(), err: err}
}

// A decoder reads a bounded number of values.
type decoder struct {
	*json.Decoder
	left int
}

func (d *decoder) value(depth int) (*value, error) {
	if d.left--; d.left < 0 {
		return nil, errTooMany
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("the JSON value is nested more than %d deep", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	v := &value{offset: int32(d.InputOffset()), text: "null"}
	switch t := token.(type) {
	case json.Delim:
		return v, d.members(v, t, depth)
	case string:
		v.kind, v.text = kindString, t
	case json.Number:
		v.text = t.String()
	case bool:
		v.text = strconv.FormatBool(t)
	}
	return v, nil
}

// members reads the rest of an array or object into v.
func (d *decoder) members(v *value, opening json.Delim, depth int) error {
	v.kind, v.text = kindArray, ""
	if opening == '{' {
		v.kind = kindObject
	}
	for d.More() {
		var m member
		if v.kind == kindObject {
			name, err := d.Token()
			if err != nil {
				return err
			}
			m.name, _ = name.(string) // the decoder takes nothing else
		}
		var err error
		if m.value, err = d.value(depth + 1); err != nil {
			return err
		}
		v.members = append(v.members, m)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	v.sort()
	return nil
}

var errTooMany = fmt.Errorf("the session has more than %d JSON values: split it", maxValues)

// count returns the number of values in v, itself included.
func (v *value) count() int {
	n := 1
	for _, m := range v.members {
		n += m.value.count()
	}
	return n
}

// ranks orders members: first those with a negative rank, then the others by name, then those with a positive one.
var ranks = map[string]int{
	"error": -20, "resources": -20, "resourceTemplates": -20, "contents": -20, "completion": -20,
	"code": -19, "message": -18, "data": -17,
	"uri": -16, "uriTemplate": -16, "name": -15, "key": -15, "title": -14, "description": -13, "mimeType": -12, "size": -11,
	"values": -10, "total": -9, "hasMore": -8, "status": -7,
	"_meta": 1, "text": 2, "blob": 2, "nextCursor": 3,
}

// sort orders the members of an object by rank and name. Members of one name keep their order.
func (v *value) sort() {
	if v.kind != kindObject {
		return
	}
	slices.SortStableFunc(v.members, func(a, b member) int {
		return cmp.Or(cmp.Compare(ranks[a.name], ranks[b.name]), strings.Compare(a.name, b.name))
	})
}

// get returns a member of an object; nil for none.
func (v *value) get(name string) *value {
	if v.kind != kindObject {
		return nil
	}
	for _, m := range v.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// with returns a copy of an object in which one member has the value to, or is missing if to is nil.
func (v *value) with(name string, to *value) *value {
	out := &value{kind: kindObject}
	for _, m := range v.members {
		if m.name != name {
			out.members = append(out.members, m)
		}
	}
	if to != nil {
		out.members = append(out.members, member{name, to})
	}
	out.sort()
	return out
}

// append appends the only form of the value. Lines after the first begin with indent.
func (v *value) append(b []byte, indent string) []byte {
	if v.kind < kindArray {
		return append(b, v.scalar()...)
	}
	if line, ok := v.line(); ok && len(indent)+utf8.RuneCountInString(line) <= width {
		return append(b, line...)
	}
	opening, closing := v.brackets()
	b = append(b, opening...)
	for i, m := range v.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n"+indent+"  "...)
		if v.kind == kindObject {
			b = append(b, quote(m.name)+": "...)
		}
		b = m.value.append(b, indent+"  ")
	}
	return append(b, "\n"+indent+closing...)
}

func (v *value) brackets() (opening, closing string) {
	if v.kind == kindObject {
		return "{", "}"
	}
	return "[", "]"
}

func (v *value) scalar() string {
	if v.kind == kindString {
		return quote(v.text)
	}
	return v.text
}

// line returns an object or array on one line. ok is false if one of several members has members itself, or the line is
// too long.
func (v *value) line() (line string, ok bool) {
	var b strings.Builder
	opening, closing := v.brackets()
	b.WriteString(opening)
	for i, m := range v.members {
		if i > 0 {
			b.WriteString(", ")
		}
		if v.kind == kindObject {
			b.WriteString(quote(m.name) + ": ")
		}
		item := m.value.scalar()
		if m.value.kind >= kindArray {
			if item, ok = m.value.line(); !ok || len(m.value.members) > 0 && len(v.members) > 1 {
				return "", false
			}
		}
		b.WriteString(item)
		if b.Len() > utf8.UTFMax*width {
			return "", false // too long in any case
		}
	}
	b.WriteString(closing)
	return b.String(), true
}

// object makes an object, and keeps members.
func object(members ...member) *value {
	v := &value{kind: kindObject, members: members}
	v.sort()
	return v
}

// array makes an array.
func array(items []*value) *value {
	v := &value{kind: kindArray}
	for _, item := range items {
		v.members = append(v.members, member{value: item})
	}
	return v
}

// text makes a string.
func text(s string) *value { return &value{kind: kindString, text: s} }
