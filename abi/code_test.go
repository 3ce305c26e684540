package abi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

func TestCodeOf(t *testing.T) {
	notFound := abi.Errorf(abi.CodeNotFound, "no user %d", 7)
	for name, c := range map[string]struct {
		err  error
		want abi.Code
	}{
		"nil":                {nil, abi.CodeOK},
		"stated":             {notFound, abi.CodeNotFound},
		"wrapped":            {fmt.Errorf("read users://7: %w", notFound), abi.CodeNotFound},
		"joined":             {errors.Join(errors.New("other"), notFound), abi.CodeNotFound},
		"stated over cause":  {abi.Errorf(abi.CodeTrap, "crashed").Because(context.DeadlineExceeded), abi.CodeTrap},
		"deadline":           {fmt.Errorf("call: %w", context.DeadlineExceeded), abi.CodeDeadline},
		"cancelled":          {fmt.Errorf("call: %w", context.Canceled), abi.CodeCancelled},
		"anything else":      {errors.New("disk on fire"), abi.CodeInternal},
		"an error is not ok": {&abi.Error{}, abi.CodeInternal},
		"nil Error":          {(*abi.Error)(nil), abi.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			if got := abi.CodeOf(c.err); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestFromGuest(t *testing.T) {
	for status, want := range map[uint32]abi.Code{
		0: abi.CodeOK, 1: abi.CodeNotFound, 8: abi.CodeUnsupported, 10: abi.CodeInputRequired,
		11: abi.CodeInternal, 31: abi.CodeInternal, 32: abi.CodeInternal, 33: abi.CodeInternal, 1<<32 - 1: abi.CodeInternal,
	} {
		if got := abi.FromGuest(status); got != want {
			t.Errorf("FromGuest(%d): got %v, want %v", status, got, want)
		}
	}
}

func TestErrorShowsOnlyWhatIsPublic(t *testing.T) {
	cause := errors.New("dial tcp 10.0.0.7:5432: refused")
	err := abi.Errorf(abi.CodeUnavailable, "the database is down").Because(cause)
	if got, want := err.Error(), "the database is down"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (&abi.Error{Code: abi.CodeNotFound, Cause: cause}).Error(); got != "not_found" {
		t.Errorf("without a message: got %q, want not_found", got)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is not in the chain")
	}
	if (&abi.Error{}).Unwrap() != nil {
		t.Error("an error without a cause unwraps to something")
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for c := range abi.Code(64) {
		name := c.String()
		if seen[name] {
			t.Errorf("two codes are named %q", name)
		}
		seen[name] = true
	}
	for got, want := range map[string]string{
		abi.CodeBusy.String(): "busy", abi.Code(99).String(): "code_99", abi.OpRead.String(): "read",
		abi.OpEvent.String(): "event", abi.OpListDir.String(): "listdir", abi.Op(10).String(): "unknown", abi.Op(1<<32 - 1).String(): "unknown",
		abi.I64.String(): "i64", abi.ValueType(0).String(): "unknown",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSignatures(t *testing.T) {
	want := map[string]string{
		"wasmres_v1": "[i32 i32] -> [i32]", "_initialize": "[] -> []",
		"wasmres_v1_warm": "[] -> []", "wasmres_v1_seed": "[i64] -> []", "wasmres_v1_stopped": "[] -> []",
		"take": "[i32 i32 i32 i32] -> [i32]", "emit": "[i32 i32] -> [i32]", "body": "[i32 i32] -> [i32]",
		"call": "[i32 i32 i32] -> [i64]", "log": "[i32 i32 i32] -> []", "info": "[i32] -> [i64]",
	}
	for _, all := range []map[string]abi.Signature{abi.Exports(), abi.Imports()} {
		for name, sig := range all {
			if got := sig.String(); got != want[name] {
				t.Errorf("%s: got %s, want %s", name, got, want[name])
			}
			delete(want, name)
		}
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
	emit, body, call := abi.Imports()["emit"], abi.Imports()["body"], abi.Imports()["call"]
	if !emit.Equal(body) || emit.Equal(call) || emit.Equal(abi.Signature{Params: emit.Params}) {
		t.Error("Equal does not compare parameters and results")
	}
	one := abi.Signature{Params: []abi.ValueType{abi.I32}}
	if one.Equal(abi.Signature{Results: one.Params}) {
		t.Error("Equal takes a parameter for a result")
	}
}

func TestImplements(t *testing.T) {
	m := abi.Manifest{Ops: 1<<abi.OpRead | 1<<31}
	for op, want := range map[abi.Op]bool{abi.OpRead: true, abi.OpList: false, 31: true, 32: false, 34: false, 1<<32 - 1: false} {
		if got := m.Implements(op); got != want {
			t.Errorf("Implements(%d): got %v, want %v", op, got, want)
		}
	}
}
