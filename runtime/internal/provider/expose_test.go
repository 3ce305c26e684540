package provider_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// TestOrdinaryErrorsAreExposedIfTheOperatorWants has guests log an error, as the SDKs do, and fail.
func TestOrdinaryErrorsAreExposedIfTheOperatorWants(t *testing.T) {
	failed := guesttest.Return(abi.CodeInternal)
	said := func(message string) guesttest.Step {
		return guesttest.Emit((&abi.Reply{Error: &abi.GuestError{Message: message, Data: `{"a":1}`}}).Append(nil))
	}
	logged := func(text string) guesttest.Step { return guesttest.Log(abi.LogError, text) }
	tests := []struct {
		name           string
		steps          []guesttest.Step
		hidden, wanted string // the message without and with exposed errors
	}{
		{"Go", []guesttest.Step{logged("no such row"), failed}, "", "no such row"},
		{"JavaScript", []guesttest.Step{
			logged("Error: Resource not found"), logged("    at read (provider.js:3:4)\n    at x"), logged("caused by Error: y"), failed,
		}, "", "Resource not found"},
		{"another class", []guesttest.Step{logged("TypeError: x is no function"), failed}, "", "TypeError: x is no function"},
		{"the first line of the last error", []guesttest.Step{logged("retrying"), logged("one\ntwo"), failed}, "", "one"},
		{"a trap, as throw is in AssemblyScript", []guesttest.Step{logged("oh no at a.ts:1:2"), guesttest.Trap()},
			"the provider crashed", "the provider crashed: oh no at a.ts:1:2"},
		{"a message of its own", []guesttest.Step{logged("secret"), said("the server answers 500"), failed},
			"the server answers 500", "the server answers 500"},
		{"data of its own", []guesttest.Step{logged("words"), said(""), failed}, "", "words"},
		{"another code", []guesttest.Step{logged("secret"), guesttest.Return(abi.CodeNotFound)}, "", ""},
		{"no error was logged", []guesttest.Step{guesttest.Log(abi.LogWarn, "secret"), failed}, "", ""},
		{"steers a terminal", []guesttest.Step{logged("a\x1b[2J\u202eb\tc\xff"), failed}, "", `a\x1b[2J\u202eb c`},
		{"long", []guesttest.Step{logged(strings.Repeat("é", 1000)), failed}, "", strings.Repeat("é", 100)},
	}
	next := func(ctx context.Context, op abi.Op, n int, req *abi.Request) guesttest.Step {
		i, _ := strconv.Atoi(strings.TrimPrefix(req.URI, "x:"))
		return steps(tests[i].steps...)(ctx, op, n, req)
	}
	both(t, func(t *testing.T, run guest.Runner) {
		for _, expose := range []bool{false, true} {
			p := loadPuppet(t, provider.Config{Runner: run, ExposeErrors: expose}, &guesttest.Puppet{Next: next})
			for i, tt := range tests {
				want := tt.hidden
				if expose {
					want = tt.wanted
				}
				_, err := readURI(t, p, fmt.Sprint("x:", i))
				var e *abi.Error
				if !errors.As(err, &e) || e.Message != want || !utf8.ValidString(e.Message) {
					t.Errorf("exposed %v: %s: got %q, want %q", expose, tt.name, e.Message, want)
				}
			}
		}
	})
}
