package guest_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/runtime/internal/guest"

	"github.com/wasmres/wasmres/abi"
)

// TestQuote tests error texts of guests as users see them: on one bounded line, without invisible characters.
func TestQuote(t *testing.T) {
	for name, tt := range map[string]struct{ said, want string }{
		"plain":             {"no such table: über", "no such table: über"},
		"lines":             {"a\nb\r\nc\td", "a b  c d"},
		"terminal":          {"\x1b[31mred", `\x1b[31mred`},
		"direction":         {"safe\u202egnp.exe\u2066x\u200f", `safe\u202egnp.exe\u2066x\u200f`},
		"long":              {strings.Repeat("ü", 1000), strings.Repeat("ü", 512)},
		"long when escaped": {strings.Repeat("\u202e", 300), strings.Repeat(`\u202e`, 170) + `\u20`},
	} {
		t.Run(name, func(t *testing.T) {
			var e *abi.Error
			if !errors.As(guest.PublicError(abi.CodeNotFound, &abi.GuestError{Message: tt.said}), &e) {
				t.Fatal("no error of the ABI")
			}
			if e.Message != tt.want || len(e.Message) > 1<<10 || !utf8.ValidString(e.Message) {
				t.Errorf("got %q, want %q", e.Message, tt.want)
			}
		})
	}
}
