package meter_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// FuzzRewrite never gets a panic, and of what the engine takes and is admitted a module that the engine takes too.
func FuzzRewrite(f *testing.F) {
	f.Add(read(f, "work"))
	f.Add(read(f, "state"))
	for _, binary := range corpus(f) {
		f.Add(binary)
	}
	features := api.CoreFeaturesV2
	engine := wazero.NewRuntimeWithConfig(f.Context(), wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features).WithMemoryLimitPages(testPages+1))
	f.Fuzz(func(t *testing.T, binary []byte) {
		code, err := meter.Rewrite(binary, generous)
		if err != nil || len(binary) > 1<<16 || !modest(binary) {
			return
		}
		ctx := context.Background()
		original, err := engine.CompileModule(ctx, binary)
		if err != nil {
			return
		}
		original.Close(ctx)
		metered, err := engine.CompileModule(ctx, code.Binary)
		if err != nil {
			t.Fatalf("the engine takes the original but not what was made of it: %v", err)
		}
		metered.Close(ctx)
	})
}

// modest reports whether the counts of a module are such as the engine can bear: it allocates what they say.
func modest(binary []byte) bool {
	const most = 1 << 12
	var ins wasm.Instruction
	for s, err := range wasm.Sections(binary) {
		if err != nil {
			return false
		}
		r := s.Reader()
		if s.ID == wasm.SectionCustom {
			return false
		}
		count := r.U32()
		if count > most {
			return false
		}
		if s.ID != wasm.SectionCode {
			continue
		}
		for range count {
			body := r.Part(r.U32())
			for range min(body.U32(), most) {
				if body.U32() > most {
					return false
				}
				body.Byte()
			}
			for body.Next(&ins) {
			}
		}
	}
	return true
}
