package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Redacted is the printed form of every secret.
const Redacted = "[redacted]"

// A Value is a secret text. Printed, logged or encoded, alone or within another value, it is [Redacted]. Only
// [Value.Reveal] gives the text. The zero Value is an empty text.
type Value struct {
	reveal func() string // a printer of unexported fields sees a function
}

// New makes a Value of a text.
func New(text string) Value { return Value{reveal: func() string { return text }} }

// Reveal returns the text.
func (v Value) Reveal() string {
	if v.reveal == nil {
		return ""
	}
	return v.reveal()
}

// String implements [fmt.Stringer].
func (Value) String() string { return Redacted }

// GoString implements [fmt.GoStringer].
func (Value) GoString() string { return Redacted }

// Format implements [fmt.Formatter], for all verbs.
func (Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// LogValue implements [slog.LogValuer].
func (Value) LogValue() slog.Value { return slog.StringValue(Redacted) }

// MarshalText implements [encoding.TextMarshaler], for JSON and XML too.
func (Value) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// MarshalYAML is the method that packages for YAML call.
func (Value) MarshalYAML() (any, error) { return Redacted, nil }

// GobEncode implements [encoding/gob.GobEncoder].
func (Value) GobEncode() ([]byte, error) { return []byte(Redacted), nil }
