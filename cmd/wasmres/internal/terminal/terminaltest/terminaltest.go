// Package terminaltest has a text that would steer a terminal, for tests of what prints the text of providers.
package terminaltest

import (
	"strings"
	"testing"
)

// Hostile has characters that change the direction of writing, or begin an escape sequence.
const Hostile = "a\u202eb\u2066c\u200fd\u061ce\x1bf"

// CheckEscaped reports an error unless printed has Hostile, and has it escaped.
func CheckEscaped(t *testing.T, printed string) {
	t.Helper()
	if strings.ContainsAny(printed, "\u202e\u2066\u200f\u061c\x1b") || !strings.Contains(printed, `a\u202eb`) {
		t.Errorf("got %q", printed)
	}
}
