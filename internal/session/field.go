package session

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// into decodes a value as encoding/json does.
func (v *value) into(dst any) error {
	d := json.NewDecoder(strings.NewReader(string(v.append(nil, ""))))
	d.DisallowUnknownFields()
	return d.Decode(dst)
}

// unlessZero gives a number; nil for 0, which need not be said.
func unlessZero(n uint64) *value {
	if n == 0 {
		return nil
	}
	return &value{text: strconv.FormatUint(n, 10)}
}

// ifTrue gives true; nil for false, which need not be said.
func ifTrue(yes bool) *value {
	if !yes {
		return nil
	}
	return &value{text: "true"}
}

// timeLayout is that of times, which have milliseconds.
const timeLayout = "2006-01-02T15:04:05.999Z07:00"

// timeValue gives a time in milliseconds since 1970; nil for 0, which is none.
func timeValue(millis int64) *value {
	if millis == 0 {
		return nil
	}
	return text(time.UnixMilli(millis).UTC().Format(timeLayout))
}

// millisOf undoes timeValue. The zero time is none.
func millisOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// hasYear reports whether timeValue can write a time.
func hasYear(millis int64) bool {
	year := time.UnixMilli(millis).UTC().Year()
	return year >= 0 && year <= 9999
}

// encodeBytes gives bytes as a text or, when they are no UTF-8, as a blob in base64, and says which.
func encodeBytes(b []byte) (name, s string) {
	if utf8.Valid(b) {
		return "text", string(b)
	}
	return "blob", base64.StdEncoding.EncodeToString(b)
}

// decodeBytes undoes encodeBytes.
func decodeBytes(name, s string) ([]byte, error) {
	if name == "text" {
		return []byte(s), nil
	}
	return base64.StdEncoding.DecodeString(s)
}

// numberOption writes NAME=N, or nothing for 0.
func numberOption(words []string, name string, n uint64) []string {
	if n == 0 {
		return words
	}
	return append(words, pair(name, strconv.FormatUint(n, 10)))
}

// textOption writes NAME=TEXT, or nothing for an empty one.
func textOption(words []string, name, s string) []string {
	if s == "" {
		return words
	}
	return append(words, pair(name, s))
}

// parseNumber reads a number that has so many bits.
func parseNumber(s string, bits int) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("it takes a number from 0 on, of %d bits", bits)
	}
	return n, nil
}

// setNumber reads a number.
func setNumber(dst *uint64, s string) (err error) {
	*dst, err = parseNumber(s, 64)
	return err
}

// parseFlag reads an option without a value.
func parseFlag(value string) error {
	if value != "" {
		return errors.New("it takes no value")
	}
	return nil
}
