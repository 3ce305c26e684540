package session

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// sqlKinds names the kinds of values, by their numbers.
var sqlKinds = []string{
	abi.SQLNull: "null", abi.SQLBool: "bool", abi.SQLInt: "int", abi.SQLFloat: "float", abi.SQLText: "text", abi.SQLBytes: "blob",
}

// formatSQL returns the name of a value's kind, which is one of sqlKinds or "kind", and the value as a text.
func formatSQL(v *abi.SQLValue) (kind, s string) {
	switch v.Kind {
	case abi.SQLNull:
	case abi.SQLBool:
		s = strconv.FormatBool(v.Int != 0)
	case abi.SQLInt:
		s = strconv.FormatInt(v.Int, 10)
	case abi.SQLFloat:
		s = strconv.FormatFloat(v.Float, 'g', -1, 64) // the shortest text that is read as the same; there is one NaN
	case abi.SQLText:
		s = v.Text
	case abi.SQLBytes:
		s = base64.StdEncoding.EncodeToString(v.Bytes)
	default:
		return "kind", strconv.FormatUint(uint64(v.Kind), 10)
	}
	return sqlKinds[v.Kind], s
}

// parseSQL is the inverse of formatSQL.
func parseSQL(kind, s string) (v abi.SQLValue, err error) {
	v.Kind = abi.SQLKind(max(0, slices.Index(sqlKinds, kind)))
	switch kind {
	case "null":
		err = noValue(s)
	case "bool":
		if s != "true" && s != "false" {
			err = errBool
		} else if s == "true" {
			v.Int = 1
		}
	case "int":
		if v.Int, err = strconv.ParseInt(s, 10, 64); err != nil {
			err = errors.New("write a whole number of at most 64 bits")
		}
	case "float":
		if v.Float, err = strconv.ParseFloat(s, 64); err != nil {
			err = errors.New("write a number that fits into 64 bits, NaN, +Inf or -Inf")
		}
	case "text":
		v.Text = s
	case "blob":
		v.Bytes, err = decodeBytes(kind, s)
	default:
		n, failed := strconv.ParseUint(s, 10, 32)
		if v.Kind = abi.SQLKind(n); failed != nil || v.Kind <= abi.SQLBytes {
			err = fmt.Errorf("write a number above %d: kinds up to that have names", abi.SQLBytes)
		}
	}
	return v, err
}

// argOption returns a parameter of a statement as an option that is named after its kind. Services refuse an unknown
// kind.
func argOption(v *abi.SQLValue) string {
	kind, s := formatSQL(v)
	switch {
	case v.Kind == abi.SQLNull:
		return kind
	case v.Kind == abi.SQLText && len(v.Text) > maxOption:
		return bytesOption([]byte(v.Text))
	case v.Kind == abi.SQLBytes && len(v.Bytes) > maxOption:
		return bytesOption(v.Bytes)
	}
	return pair(kind, s)
}

func encodeRow(cells []abi.SQLValue) (*value, error) {
	items := make([]*value, len(cells))
	for i := range cells {
		var err error
		if items[i], err = encodeCell(&cells[i]); err != nil {
			return nil, fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return array(items), nil
}

// decodeRow is the inverse of encodeRow.
func decodeRow(v *value) ([]abi.SQLValue, error) {
	if v.kind != kindArray {
		return nil, errors.New(`write rows as arrays of values, as in [[1, "Ada"], [2, null]]`)
	}
	cells := make([]abi.SQLValue, len(v.members))
	for i, m := range v.members {
		var err error
		if cells[i], err = decodeCell(m.value); err != nil {
			return nil, fmt.Errorf("column %d: %w", i+1, m.value.at(err))
		}
	}
	return cells, nil
}

// encodeCell returns a value of a row. A float has a point or an exponent, or is an object if JSON has no number for
// it; an int has neither.
func encodeCell(v *abi.SQLValue) (*value, error) {
	kind, s := formatSQL(v)
	switch {
	case v.Kind > abi.SQLBytes:
		return nil, fmt.Errorf("a value is of the unknown kind %d", v.Kind)
	case v.Kind == abi.SQLNull:
		s = kind
	case v.Kind == abi.SQLText:
		return text(s), nil
	case v.Kind == abi.SQLBytes, v.Kind == abi.SQLFloat && !isFinite(v.Float):
		return object(member{kind, text(s)}), nil
	case v.Kind == abi.SQLFloat && !isFloat(s):
		s += ".0"
	}
	return &value{text: s}, nil
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// isFloat reports whether a number in JSON is a float.
func isFloat(number string) bool { return strings.ContainsAny(number, ".eE") }

var errCell = errors.New(`write a value as null, true, 1, 1.0, "text", {"blob": "BASE64"} or {"float": "NaN"}`)

// decodeCell is the inverse of encodeCell.
func decodeCell(v *value) (abi.SQLValue, error) {
	switch {
	case v.isNull():
		return abi.SQLValue{}, nil
	case v.kind == kindString:
		return parseSQL("text", v.text)
	case v.kind == kindPlain && (v.text == "true" || v.text == "false"):
		return parseSQL("bool", v.text)
	case v.kind == kindPlain && isFloat(v.text):
		return parseSQL("float", v.text)
	case v.kind == kindPlain:
		return parseSQL("int", v.text)
	case v.kind == kindObject && len(v.members) == 1 && v.members[0].value.kind == kindString:
		if m := v.members[0]; m.name == "blob" || m.name == "float" {
			return parseSQL(m.name, m.value.text)
		}
	}
	return abi.SQLValue{}, errCell
}
