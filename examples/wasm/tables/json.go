package tables

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// AppendObject appends a row as a JSON object, by the names of its columns.
func AppendObject(b []byte, row wasmres.Row) []byte {
	b = append(b, '{')
	for i, v := range row.Values() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, row.Columns()[i].Name)
		b = appendValue(append(b, ':'), v)
	}
	return append(b, '}')
}

// appendColumn appends the description of a column as a JSON object. Whether it may be null is a truth value also where the
// database has numbers for those.
func appendColumn(b []byte, row wasmres.Row) []byte {
	b = append(b, '{')
	for i, v := range row.Values() {
		if i > 0 {
			b = append(b, ',')
		}
		name := row.Columns()[i].Name
		b = append(appendString(b, name), ':')
		if number, ok := v.Any().(int64); ok && name == "null" {
			b = strconv.AppendBool(b, number != 0)
		} else {
			b = appendValue(b, v)
		}
	}
	return append(b, '}')
}

// appendArray appends the values of a row as a JSON array.
func appendArray(b []byte, row wasmres.Row) []byte {
	b = append(b, '[')
	for i, v := range row.Values() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, v)
	}
	return append(b, ']')
}

// appendValue appends a value as JSON. Bytes become base64, and numbers JSON has not become texts.
func appendValue(b []byte, v wasmres.Value) []byte {
	switch x := v.Any().(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return appendString(b, x)
	case []byte:
		b = base64.StdEncoding.AppendEncode(append(b, '"'), x)
		return append(b, '"')
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return appendString(b, v.String())
		}
		return strconv.AppendFloat(b, x, 'g', -1, 64)
	}
	return append(b, v.String()...)
}

func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, c := range s {
		switch {
		case c == '"', c == '\\':
			b = append(b, '\\', byte(c))
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return append(b, '"')
}
