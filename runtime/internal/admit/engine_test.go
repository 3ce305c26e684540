package admit_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// An engine is wazero as our own configures it.
type engine struct{ rt wazero.Runtime }

func newEngine(t testing.TB) engine {
	cfg := wazero.NewRuntimeConfigCompiler().WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false)
	rt := wazero.NewRuntimeWithConfig(t.Context(), cfg)
	t.Cleanup(func() { rt.Close(context.Background()) })
	return engine{rt}
}

// compile compiles a module. A panic is an error, too.
func (e engine) compile(binary []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	compiled, err := e.rt.CompileModule(context.Background(), binary)
	if err != nil {
		return err
	}
	return compiled.Close(context.Background())
}

// engineExceptions are modules of the suite that we find valid and wazero does not compile.
var engineExceptions = map[string]string{
	"v1/imports.47": "wazero wants a name for the module of an import, as our lists of host functions have",
	"v1/imports.48": "likewise",
}

func TestTheEngineCompilesWhatIsAdmitted(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles each module of the specification")
	}
	e := newEngine(t)
	n := 0
	for _, m := range specModules(t) {
		report, err := admit.Validate(m.binary, generous)
		if err != nil || report.Peaks.TableEntries > 1<<20 {
			continue
		}
		n++
		err = e.compile(withoutCustom(m.binary))
		if why := engineExceptions[m.name]; (err != nil) != (why != "") {
			t.Errorf("%s %s: admitted, and compiled: %v %s", m.kind, m.name, err, why)
		}
	}
	t.Logf("%d modules compiled", n)
}

// immediates are what may follow an opcode, all sorts of which are tried.
var immediates = [][]byte{
	{}, {0}, {1}, {0x40}, {0x7f}, {0x70}, {0x6f}, {0x69}, {0x80, 0}, {0x40, 0x0b}, {0x40, 0x05, 0x0b}, {0x0b}, {0xc0, 0x7f, 0x0b},
	{0xff, 0x7f, 0x0b},
	{0, 0}, {0, 1}, {1, 0}, {1, 0x7f}, {0x81, 0, 0x7f}, {1, 0x70}, {2, 0x7f, 0x7f}, {0, 0, 0}, {0, 0, 15}, {0, 0, 16},
	{4, 0}, {5, 0},
	{3, 0}, {2, 0}, {31, 0}, {32, 0}, {15}, {16}, {31}, {0, 0x80, 0}, {0, 0, 0, 0},
	{0xff, 0xff, 0xff, 0xff, 0x07}, {0xff, 0xff, 0xff, 0xff, 0x7f}, {0xff, 0xff, 0xff, 0xff, 0x0f},
	make([]byte, 8), make([]byte, 16),
	{31, 30, 29, 28, 27, 26, 25, 24, 0, 1, 2, 3, 4, 5, 6, 7}, {32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
}

// TestEveryOpcodeIsTakenAsTheEngineTakesIt tries all opcodes with all sorts of immediates, where the operands do not
// matter, on both.
func TestEveryOpcodeIsTakenAsTheEngineTakesIt(t *testing.T) {
	e := newEngine(t)
	var opcodes [][]byte
	for op := range 256 {
		opcodes = append(opcodes, []byte{byte(op)}, append([]byte{0xfc}, u32(op)...), append([]byte{0xfd}, u32(op)...))
	}
	opcodes = append(opcodes, []byte{0xfd, 0x80, 0x02}, []byte{0xfd, 0x80, 0x81, 0}, []byte{0xfd, 0x8c, 0},
		[]byte{0xfc, 0x80, 0x02}, []byte{0xfd, 0xff, 0xff, 0x03})
	accepted := 0
	for i, opcode := range opcodes {
		for j, rest := range immediates {
			if testing.Short() && (i+j)%8 != 0 {
				continue
			}
			binary := withCode([]byte{byte(wasm.OpUnreachable)}, opcode, rest, []byte{byte(wasm.OpUnreachable)})
			_, refused := admit.Validate(binary, generous)
			failed := e.compile(binary)
			if refused == nil {
				accepted++
			}
			if (refused == nil) != (failed == nil) && !(failed == nil && stricter(opcode, rest)) {
				t.Errorf("%x %x: got %v, the engine %v", opcode, rest, refused, failed)
			}
		}
	}
	t.Logf("%d of %d admitted", accepted, len(opcodes)*len(immediates))
}

// stricter says where we refuse what wazero compiles, on purpose.
func stricter(opcode, rest []byte) bool {
	code := join(opcode, rest)
	switch {
	case code[0] == 0xfd && code[1] >= 0x80 && code[2] != 1:
		return true // wazero takes one byte for the opcode, and the rest of the number for other instructions
	case code[0] >= 0x02 && code[0] <= 0x04 && code[1] == 0xc0:
		return true // an empty block, but not in the one way there is to write it
	case code[0] == 0xd0 && code[1] == 0x69:
		return true // exceptions, which are switched off
	}
	return false
}

// withCode is a module that has one of everything, and one function with this code.
func withCode(code ...[]byte) []byte {
	return module(
		section(wasm.SectionType, fn("", "")),
		section(wasm.SectionFunction, []byte{0}),
		section(wasm.SectionTable, []byte{wasm.FuncRef, 0, 1}, []byte{wasm.FuncRef, 0, 1}),
		section(wasm.SectionMemory, []byte{0, 1}),
		section(wasm.SectionGlobal, []byte{wasm.I32, 1, 0x41, 0, 0x0b}),
		section(wasm.SectionElement, []byte{1, 0, 1, 0}),
		raw(wasm.SectionDataCount, []byte{1}),
		section(wasm.SectionCode, bodyOf(i32s(1), code...)),
		section(wasm.SectionData, []byte{1, 0}),
	)
}
