package session

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// appendArg gives a parameter as an option that is named after its kind.
func appendArg(words []string, v *abi.SQLValue) []string {
	switch v.Kind {
	case abi.SQLNull:
		return append(words, "null")
	case abi.SQLBool:
		return append(words, pair("bool", strconv.FormatBool(v.Int != 0)))
	case abi.SQLInt:
		return append(words, pair("int", strconv.FormatInt(v.Int, 10)))
	case abi.SQLFloat:
		return append(words, pair("float", formatFloat(v.Float)))
	case abi.SQLText:
		return append(words, longArg("text", v.Text, []byte(v.Text)))
	case abi.SQLBytes:
		return append(words, longArg("blob", base64.StdEncoding.EncodeToString(v.Bytes), v.Bytes))
	}
	return append(words, pair("kind", strconv.FormatUint(uint64(v.Kind), 10))) // services refuse it
}

// longArg gives a text or bytes, b, in the form that is written as value unless they are long.
func longArg(name, value string, b []byte) string {
	if len(b) > maxPayload {
		p := payloadOf(b)
		name, value = p.name, p.value
	}
	return pair(name, value)
}

// parseArg reads an option that appendArg has written. It gives errUnknown for another name.
func parseArg(words []string, name, value string) ([]string, error) {
	v := abi.SQLValue{Text: value}
	var err error
	switch name {
	case "null":
		err = parseFlag(value)
	case "bool":
		v.Kind = abi.SQLBool
		v.Int, err = parseBool(value)
	case "int":
		v.Kind = abi.SQLInt
		v.Int, err = parseInt(value)
	case "float":
		v.Kind = abi.SQLFloat
		v.Float, err = parseFloat(value)
	case "text":
		v.Kind = abi.SQLText
	case "blob":
		v.Kind = abi.SQLBytes
		v.Bytes, err = base64.StdEncoding.DecodeString(value)
	case "kind":
		n, err := parseNumber(value, 32)
		if err == nil && n <= uint64(abi.SQLBytes) {
			err = errors.New("it is for a kind that has no name")
		}
		return append(words, pair(name, strconv.FormatUint(n, 10))), err
	default:
		p, err := parsePayload(name, value)
		return p.option(words), err
	}
	return appendArg(words, &v), err
}

func parseBool(s string) (int64, error) {
	switch s {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	return 0, errors.New("it takes true or false")
}

func parseInt(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, errors.New("it takes a whole number of 64 bits")
	}
	return n, nil
}

// formatFloat gives the shortest text that parseFloat reads as f. There is one NaN.
func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func parseFloat(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, errors.New("it takes a number of 64 bits, NaN, +Inf or -Inf")
	}
	return f, nil
}

// cellValue gives a value of a row. A float has a point or an exponent, or stands in an object where JSON has no
// number for it; an int has neither.
func cellValue(v *abi.SQLValue) *value {
	switch v.Kind {
	case abi.SQLBool:
		return &value{text: strconv.FormatBool(v.Int != 0)}
	case abi.SQLInt:
		return &value{text: strconv.FormatInt(v.Int, 10)}
	case abi.SQLFloat:
		return floatValue(v.Float)
	case abi.SQLText:
		return text(v.Text)
	case abi.SQLBytes:
		return object(member{"blob", text(base64.StdEncoding.EncodeToString(v.Bytes))})
	}
	return &value{text: "null"}
}

func floatValue(f float64) *value {
	s := formatFloat(f)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return object(member{"float", text(s)})
	case !isFloat(s):
		s += ".0"
	}
	return &value{text: s}
}

// isFloat reports whether a number in JSON is a float.
func isFloat(number string) bool { return strings.ContainsAny(number, ".eE") }

var errCell = errors.New(`a value is null, true, 1, 1.0, "text", {"blob": "BASE64"} or {"float": "NaN"}`)

// setCell undoes cellValue.
func setCell(cell *abi.SQLValue, v *value) (err error) {
	switch {
	case v.kind == kindString:
		*cell = abi.SQLValue{Kind: abi.SQLText, Text: v.text}
	case v.kind == kindPlain:
		return setPlainCell(cell, v.text)
	case v.kind == kindObject && len(v.members) == 1 && v.members[0].value.kind == kindString:
		return setNamedCell(cell, v.members[0].name, v.members[0].value.text)
	default:
		return errCell
	}
	return nil
}

func setPlainCell(cell *abi.SQLValue, s string) (err error) {
	switch {
	case s == "null":
		cell.Kind = abi.SQLNull
	case s == "true" || s == "false":
		cell.Kind = abi.SQLBool
		cell.Int, err = parseBool(s)
	case isFloat(s):
		cell.Kind = abi.SQLFloat
		cell.Float, err = parseFloat(s)
	default:
		cell.Kind = abi.SQLInt
		cell.Int, err = parseInt(s)
	}
	return err
}

func setNamedCell(cell *abi.SQLValue, name, s string) (err error) {
	switch name {
	case "blob":
		cell.Kind = abi.SQLBytes
		cell.Bytes, err = base64.StdEncoding.DecodeString(s)
	case "float":
		cell.Kind = abi.SQLFloat
		cell.Float, err = parseFloat(s)
	default:
		err = errCell
	}
	return err
}
