package wasm_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/runtime/wasm"
)

func TestInstructionsHaveTheirImmediates(t *testing.T) {
	lanes := "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
	for _, c := range []struct {
		code string
		want wasm.Instruction
	}{
		{"\x01", wasm.Instruction{Op: wasm.OpNop}},
		{"\x02\x40", wasm.Instruction{Op: wasm.OpBlock, Block: wasm.BlockEmpty}},
		{"\x03\x7f", wasm.Instruction{Op: wasm.OpLoop, Block: -1}},
		{"\x04\x80\x01", wasm.Instruction{Op: wasm.OpIf, Block: 128}},
		{"\x0c\x03", wasm.Instruction{Op: wasm.OpBr, Index: 3}},
		{"\x0e\x02\x00\x81\x00\x05", wasm.Instruction{Op: wasm.OpBrTable, Index: 2, Labels: []byte("\x00\x81\x00\x05")}},
		{"\x11\x04\x01", wasm.Instruction{Op: wasm.OpCallIndirect, Index: 4, Index2: 1}},
		{"\x1c\x01\x6f", wasm.Instruction{Op: wasm.OpSelectTypes, Types: []byte{wasm.ExternRef}}},
		{"\x20\x80\x02", wasm.Instruction{Op: wasm.OpLocalGet, Index: 256}},
		{"\x28\x02\x80\x08", wasm.Instruction{Op: wasm.OpI32Load, Align: 2, MemOffset: 1024}},
		{"\x3f\x00", wasm.Instruction{Op: wasm.OpMemorySize}},
		{"\x41\x7f", wasm.Instruction{Op: wasm.OpI32Const, Value: math.MaxUint64}},
		{"\x42\x80\x7f", wasm.Instruction{Op: wasm.OpI64Const, Value: math.MaxUint64 - 127}},
		{"\x43\x00\x00\x80\x3f", wasm.Instruction{Op: wasm.OpF32Const, Value: uint64(math.Float32bits(1))}},
		{"\x44\x00\x00\x00\x00\x00\x00\xf0\x3f", wasm.Instruction{Op: wasm.OpF64Const, Value: math.Float64bits(1)}},
		{"\x6a", wasm.Instruction{Op: wasm.OpI32Add}},
		{"\xd0\x70", wasm.Instruction{Op: wasm.OpRefNull, Types: []byte{wasm.FuncRef}}},
		{"\xfc\x08\x03\x00", wasm.Instruction{Op: wasm.OpMemoryInit, Index: 3}},
		{"\xfc\x0a\x00\x00", wasm.Instruction{Op: wasm.OpMemoryCopy}},
		{"\xfc\x8b\x80\x00\x00", wasm.Instruction{Op: wasm.OpMemoryFill}},
		{"\xfc\x0c\x03\x01", wasm.Instruction{Op: wasm.OpTableInit, Index: 3, Index2: 1}},
		{"\xfc\x0e\x02\x01", wasm.Instruction{Op: wasm.OpTableCopy, Index: 2, Index2: 1}},
		{"\xfd\x0c" + lanes, wasm.Instruction{Op: wasm.OpV128Const, Vector: []byte(lanes)}},
		{"\xfd\x0d" + lanes, wasm.Instruction{Op: wasm.OpI8x16Shuffle, Vector: []byte(lanes)}},
		{"\xfd\x15\x07", wasm.Instruction{Op: 0xfd15, Lane: 7}},
		{"\xfd\x54\x00\x04\x03", wasm.Instruction{Op: wasm.OpV128Load8Lane, MemOffset: 4, Lane: 3}},
		{"\xfd\x80\x01", wasm.Instruction{Op: 0xfd80}},
	} {
		c.want.End = len(c.code)
		got := wasm.Instruction{Index: 7, Index2: 7, Lane: 7, Value: 7, Labels: []byte{7}, Types: []byte{7}, Vector: []byte{7}}
		r := wasm.NewReader([]byte(c.code))
		if !r.Next(&got) || r.Err() != nil {
			t.Errorf("%x: %v", c.code, r.Err())
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%x (-want +got):\n%s", c.code, diff)
		}
		if r.Next(&got) || r.Err() != nil {
			t.Errorf("%x: want the end, got %v, %v", c.code, got, r.Err())
		}
		for n := range len(c.code) - 1 {
			r := wasm.NewReader([]byte(c.code[:n+1]))
			if r.Next(&got) || r.Err() == nil {
				t.Errorf("%x: cut off after %d bytes: got %v", c.code, n+1, got)
			}
		}
	}
}

func TestWhatIsNoInstructionIsRefused(t *testing.T) {
	for name, code := range map[string]string{
		"unknown":                           "\x06",
		"tail call":                         "\x12\x00",
		"exceptions":                        "\x1f\x40\x00",
		"atomics":                           "\xfe\x00\x00\x00",
		"garbage collection":                "\xfb\x00",
		"relaxed vectors":                   "\xfd\x80\x02",
		"unknown after 0xfc":                "\xfc\x12",
		"unknown after 0xfd":                "\xfd\x9a\x01",
		"long number of a vector operation": "\xfd\x8c\x00",
		"longer number":                     "\xfd\x80\x81\x00",
		"memory index":                      "\x40\x01",
		"second memory index":               "\xfc\x0a\x00\x01",
		"long memory index":                 "\x3f\x80\x00",
		"block type":                        "\x02\x41",
		"empty block in two bytes":          "\x02\xc0\x7f",
		"value type in two bytes":           "\x02\xff\x7f",
		"exception reference":               "\xd0\x69",
		"type of select":                    "\x1c\x01\x40",
		"long count of select":              "\x1c\x81\x00\x7f",
		"labels":                            "\x0e\xff\xff\xff\xff\x0f\x00",
	} {
		var ins wasm.Instruction
		r := wasm.NewReader([]byte(code))
		if r.Next(&ins) || r.Err() == nil {
			t.Errorf("%s: got %v, %v, want it refused", name, ins.Op, r.Err())
		}
	}
}

func TestOpcodesHaveNames(t *testing.T) {
	for op, want := range map[wasm.Opcode]string{
		wasm.OpUnreachable: "unreachable", wasm.OpI32TruncSatF64U: "i32.trunc_sat_f64_u", wasm.OpTableFill: "table.fill",
		wasm.OpV128Store64Lane: "v128.store64_lane", 0xfdff: "f64x2.convert_low_i32x4_u", 0x06: "opcode 0x6", 0xfd9a: "opcode 0xfd9a",
	} {
		if got := op.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestEveryOpcodeOccursInTheSpecificationSuite reads the valid modules of the core specification's tests, which ship
// with wazero: an opcode that never occurs there is one we have made up, and one we cannot read is one we have forgotten.
func TestEveryOpcodeOccursInTheSpecificationSuite(t *testing.T) {
	seen := map[wasm.Opcode]bool{}
	for _, file := range suite(t) {
		binary, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range wasm.Sections(binary) {
			if err != nil {
				break // malformed on purpose
			}
			if s.ID == wasm.SectionCode {
				collect(s.Reader(), seen)
			}
		}
	}
	known := 0
	for _, page := range []wasm.Opcode{0, 0xfc00, 0xfd00} {
		for sub := range wasm.Opcode(256) {
			op := page + sub
			if strings.HasPrefix(op.String(), "opcode ") {
				continue
			}
			known++
			if !seen[op] {
				t.Errorf("%v never occurs", op)
			}
		}
	}
	if want := 437; known != want || len(seen) != want {
		t.Errorf("got %d opcodes, %d of them seen, want %d", known, len(seen), want)
	}
}

func collect(r *wasm.Reader, seen map[wasm.Opcode]bool) {
	for range r.U32() {
		body := r.Part(r.U32())
		for range body.U32() {
			body.U32()
			body.Byte()
		}
		var ins wasm.Instruction
		for body.Next(&ins) {
			seen[ins.Op] = true
		}
		if r.Err() != nil || body.Err() != nil {
			return
		}
	}
}

func suite(t *testing.T) []string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "internal/integration_test/spectest/v2/testdata/*.wasm"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no test suite: %v", err)
	}
	return files
}
