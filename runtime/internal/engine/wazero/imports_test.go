package wazero_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
)

func TestImportsAreCheckedAgainstTheHost(t *testing.T) {
	const (
		types    = "\x01\x0a\x02\x60\x01\x7f\x00\x60\x01\x7e\x01\x7f" // (i32) -> () and (i64) -> (i32)
		function = "\x02\x07\x01\x01e\x01f\x00\x01"                   // e.f of the second
		twice    = "\x02\x0d\x02\x01e\x01f\x00\x01\x01e\x01f\x00\x01"
		memory   = "\x02\x08\x01\x01e\x01m\x02\x00\x01"
	)
	of := func(params, results []abi.ValueType) engine.HostFunc {
		return engine.HostFunc{Module: "e", Name: "f", Type: abi.Signature{Params: params, Results: results}, Call: func(context.Context, engine.Memory, any, []uint64) {}}
	}
	right := of([]abi.ValueType{abi.I64}, []abi.ValueType{abi.I32})
	other := right
	other.Name = "g"
	e, err := wazero.Open(engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for name, tt := range map[string]struct {
		sections, message string
		host              engine.HostFunc
	}{
		"fits":            {types + function, "", right},
		"fits twice":      {types + twice, "", right},
		"other parameter": {types + function, "imports e.f as", of([]abi.ValueType{abi.I32}, []abi.ValueType{abi.I32})},
		"other result":    {types + function, "imports e.f as", of([]abi.ValueType{abi.I64}, nil)},
		"missing":         {types + function, `imports "e"."f", which no host function has`, other},
		"none":            {types, "", right},
		"a memory":        {memory, "", right},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := e.Compile(t.Context(), []byte("\x00asm\x01\x00\x00\x00"+tt.sections), []engine.HostFunc{tt.host})
			if err == nil {
				defer m.Close()
			}
			switch {
			case tt.message == "" && err != nil:
				t.Error(err)
			case tt.message != "" && (abi.CodeOf(err) != abi.CodeIncompatible || !strings.Contains(err.Error(), tt.message)):
				t.Errorf("got %v, want %s", err, tt.message)
			}
			if name == "a memory" && err == nil {
				if _, err := m.Instantiate(t.Context(), nil, nil); err == nil {
					t.Error("it was instantiated without the memory")
				}
			}
		})
	}
}
