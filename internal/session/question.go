package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
)

// maxOption is how many bytes of a value stand in a question. Of more there is the digest.
const maxOption = 1 << 10

// question returns a request as one line, the only one for equal requests: the name of the service, the positional
// words, and options for all other fields that are not zero, in the order of the fields.
func (f *serviceFormat) question(request message) string {
	fields := fieldsOf(reflect.ValueOf(request).Elem())
	written := make([][]string, len(fields))
	for i, field := range fields {
		if field.name != "-" {
			written[i] = options(field.name, field.value)
		}
	}
	return f.line(fields, written)
}

// line joins the positional words, which are values of fields, and the options of all fields.
func (f *serviceFormat) line(fields []field, options [][]string) string {
	words := []string{f.name}
	for i := range strings.Fields(f.positional) {
		words = append(words, word(fmt.Sprint(fields[i].value)))
	}
	return strings.Join(slices.Concat(words, slices.Concat(options...)), " ")
}

// options returns a field of a request as the words of a line; none for zero. There is one option for each header field
// and each parameter of a statement.
func options(name string, v reflect.Value) (list []string) {
	if isEmpty(v) {
		return nil
	}
	name, _, _ = strings.Cut(name, "=")
	switch x := v.Interface().(type) {
	case bool:
		return []string{name}
	case []byte:
		return []string{bytesOption(x)}
	case []abi.HTTPField:
		for _, h := range x {
			list = append(list, pair(name, headerLine(h)))
		}
		return list
	case []abi.SQLValue:
		for i := range x {
			list = append(list, argOption(&x[i]))
		}
		return list
	}
	return []string{pair(name, fmt.Sprint(v))}
}

// parseQuestion reads the words after the name of the service, options in any order, and gives the question.
func (f *serviceFormat) parseQuestion(words []string) (string, error) {
	usage := strings.TrimSpace("host " + f.name + " " + f.positional)
	positional := len(strings.Fields(f.positional))
	if len(words) < positional {
		return "", fmt.Errorf("write it as: %s", usage)
	}
	fields := fieldsOf(reflect.ValueOf(zero(f.request)).Elem())
	for i, w := range words[:positional] {
		if _, err := parseOption("", w, fields[i].value); err != nil {
			return "", fmt.Errorf("%.64q: %w, as in: %s", w, err, usage)
		}
	}
	known := names(fields)
	written := make([][]string, len(fields))
	for _, w := range words[positional:] {
		name, value, _ := strings.Cut(w, "=")
		i := slices.IndexFunc(fields, func(f field) bool { return f.has(name) })
		switch {
		case i < 0 && len(known) == 0:
			return "", fmt.Errorf("%.64q is one word too many: write it as: %s", w, usage)
		case i < 0:
			return "", fmt.Errorf("%s has no option %.64q: it has %s", f.name, w, strings.Join(known, ", "))
		}
		list, err := parseOption(name, value, fields[i].value)
		if err != nil {
			return "", fmt.Errorf("option %.64q: %w", w, err)
		}
		if t := fields[i].value.Type(); t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			list = append(written[i], list...) // of which there may be several
		}
		written[i] = list
	}
	return f.line(fields, written), nil
}

// has reports whether an option of this name is the field.
func (f field) has(name string) bool {
	for option := range strings.SplitSeq(f.name, ", ") {
		if option, _, _ = strings.Cut(option, "="); option == name && name != "-" {
			return true
		}
	}
	return false
}

// parseOption reads the value of an option into a field of a request, and gives the words for it, as options does. A
// digest leaves the field as it is, since only its words are known.
func parseOption(name, s string, dst reflect.Value) (list []string, err error) {
	if name == "sha256" {
		sum, err := hex.DecodeString(s)
		if err != nil || len(sum) != sha256.Size {
			return nil, errors.New("write 64 hex digits")
		}
		return []string{pair(name, hex.EncodeToString(sum))}, nil
	}
	switch p := dst.Addr().Interface().(type) {
	case *string:
		*p = s
	case *bool:
		*p, err = true, noValue(s)
	case *uint32, *uint64:
		err = parseUint(s, dst)
	case *[]byte:
		*p, err = decodeBytes(name, s)
	case *[]abi.HTTPField:
		*p = make([]abi.HTTPField, 1)
		(*p)[0], err = parseHeaderLine(s)
	case *[]abi.SQLValue:
		*p = make([]abi.SQLValue, 1)
		(*p)[0], err = parseSQL(name, s)
	}
	return options(name, dst), err
}

// isEmpty reports whether a field is zero, or a list without elements.
func isEmpty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 }

// noValue checks that an option without a value has none.
func noValue(s string) error {
	if s != "" {
		return errors.New("write it without a value")
	}
	return nil
}

// parseUint reads a number into an integer of 32 or 64 bits.
func parseUint(s string, dst reflect.Value) error {
	n, err := strconv.ParseUint(s, 10, dst.Type().Bits())
	if err != nil {
		return fmt.Errorf("write a whole number from 0 on, of at most %d bits", dst.Type().Bits())
	}
	dst.SetUint(n)
	return nil
}

// bytesOption returns bytes in the one form they have: text=, blob= or, of more than maxOption, sha256=.
func bytesOption(b []byte) string {
	if len(b) > maxOption {
		sum := sha256.Sum256(b)
		return pair("sha256", hex.EncodeToString(sum[:]))
	}
	return pair(encodeBytes(b))
}

// encodeBytes returns bytes as a text or, when they are not UTF-8, as a blob in base64, and says which.
func encodeBytes(b []byte) (name, s string) {
	if utf8.Valid(b) {
		return "text", string(b)
	}
	return "blob", base64.StdEncoding.EncodeToString(b)
}

// decodeBytes is the inverse of encodeBytes.
func decodeBytes(name, s string) ([]byte, error) {
	if name == "text" {
		return []byte(s), nil
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, errors.New("write the bytes in base64")
	}
	return b, nil
}

// headerLine returns a header field as HTTP writes it.
func headerLine(h abi.HTTPField) string { return h.Name + ": " + h.Value }

// parseHeaderLine is the inverse of headerLine. The space may be missing.
func parseHeaderLine(line string) (h abi.HTTPField, err error) {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return h, fmt.Errorf(`%.64q is not a header field: write it as in "accept: text/plain"`, line)
	}
	return abi.HTTPField{Name: name, Value: strings.TrimPrefix(value, " ")}, nil
}
