package session

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// timeLayout is that of times, which have milliseconds.
const timeLayout = "2006-01-02T15:04:05.999Z07:00"

// encode returns a response of the ABI, or a part of one, as JSON. A struct becomes an object with the names of
// layouts, an int64 a time in milliseconds since 1970, a header field a line, a row an array of values. An error says
// what JSON cannot hold.
func encode(v reflect.Value) (*value, error) {
	switch x := v.Interface().(type) {
	case string:
		return text(x), nil
	case bool, uint32, uint64:
		return &value{text: fmt.Sprint(x)}, nil
	case int64:
		t := time.UnixMilli(x).UTC()
		if t.Year() < 0 || t.Year() > 9999 {
			return nil, fmt.Errorf("time %d ms is out of range: a session holds the years 0 to 9999", x)
		}
		return text(t.Format(timeLayout)), nil
	case abi.HTTPField:
		if strings.Contains(x.Name, ":") {
			return nil, fmt.Errorf("%.128q is not the name of a header field", x.Name)
		}
		return text(headerLine(x)), nil
	case abi.SQLRow:
		return encodeRow(x.Values)
	}
	if v.Kind() == reflect.Slice {
		return encodeArray(v)
	}
	var members []member
	for _, f := range fieldsOf(v) {
		if f.omitEmpty && isEmpty(f.value) {
			continue
		}
		m, err := encode(f.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		members = append(members, member{f.name, m})
	}
	return object(members...), nil
}

func encodeArray(v reflect.Value) (*value, error) {
	items := make([]*value, v.Len())
	for i := range items {
		var err error
		if items[i], err = encode(v.Index(i)); err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return array(items), nil
}

// decode is the inverse of encode. As encoding/json does, it takes null for zero and names in any case; the last of
// several members with one name counts. An error has the place in the text.
func decode(v *value, dst reflect.Value) (err error) {
	if v.isNull() {
		dst.SetZero()
		return nil
	}
	switch p := dst.Addr().Interface().(type) {
	case *string:
		*p, err = v.string()
	case *bool:
		*p, err = v.bool()
	case *uint32, *uint64:
		err = parseUint(v.text, dst)
		if v.kind != kindPlain {
			err = errors.New("write a number, without quotes")
		}
	case *int64:
		*p, err = decodeTime(v)
	case *abi.HTTPField:
		var line string
		if line, err = v.string(); err == nil {
			*p, err = parseHeaderLine(line)
		}
	case *abi.SQLRow:
		p.Values, err = decodeRow(v)
	default:
		if dst.Kind() == reflect.Slice {
			return decodeArray(v, dst)
		}
		return decodeObject(v, dst)
	}
	return v.at(err)
}

func decodeArray(v *value, dst reflect.Value) error {
	if v.kind != kindArray {
		return v.at(errors.New("write an array"))
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(v.members), len(v.members)))
	for i, m := range v.members {
		if err := decode(m.value, dst.Index(i)); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

// decodeObject fills a struct. An error about an unknown member names those there are, and also others.
func decodeObject(v *value, dst reflect.Value, others ...string) error {
	if v.kind != kindObject {
		return v.at(errors.New("write an object"))
	}
	fields := fieldsOf(dst)
	for _, m := range v.members {
		i := 0
		for i < len(fields) && !strings.EqualFold(fields[i].name, m.name) {
			i++
		}
		if i == len(fields) {
			known := strings.Join(append(names(fields), others...), ", ")
			return m.value.at(fmt.Errorf("%.64q is unknown: write one of %s", m.name, known))
		}
		if err := decode(m.value, fields[i].value); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// decodeTime reads a time. The zero time is none.
func decodeTime(v *value) (int64, error) {
	var t time.Time
	if v.kind != kindString || t.UnmarshalText([]byte(v.text)) != nil {
		return 0, errors.New(`write a time, as in "2026-11-22T07:00:00Z"`)
	}
	if t.IsZero() {
		return 0, nil
	}
	return t.UnixMilli(), nil
}
