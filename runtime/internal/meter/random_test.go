package meter_test

import (
	"context"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// wasmOpt makes random modules of features that are admitted: wasm-opt -ttf seed -o module, with these.
var wasmOpt = []string{
	"--mvp-features", "--enable-bulk-memory", "--enable-multivalue", "--enable-simd", "--enable-sign-ext",
	"--enable-nontrapping-float-to-int", "--enable-mutable-globals", "--enable-reference-types",
}

// corpus returns the random modules of testdata/random. [TestCorpusIsMade] makes them.
func corpus(tb testing.TB) (modules [][]byte) {
	tb.Helper()
	files, err := filepath.Glob("testdata/random/*.wasm")
	if err != nil || len(files) == 0 {
		tb.Fatal("no random modules: ", err)
	}
	for _, file := range files {
		binary, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		modules = append(modules, binary)
	}
	return modules
}

// generate makes a random module, or gives nil for a seed from which none comes that the engine takes.
func generate(t *testing.T, h *host, seed uint64, size int) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	bytes := make([]byte, size)
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "seed"), filepath.Join(dir, "out.wasm")
	if err := os.WriteFile(in, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("wasm-opt", append([]string{"-ttf", in, "-o", out}, wasmOpt...)...).Run(); err != nil {
		return nil
	}
	binary, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := h.runtime.CompileModule(context.Background(), binary)
	if err != nil {
		return nil
	}
	compiled.Close(context.Background())
	return binary
}

// TestRandomModulesDoTheSame compares both forms on the corpus, and on fresh modules where wasm-opt is installed.
func TestRandomModulesDoTheSame(t *testing.T) {
	h := newHost(t)
	ran := 0
	for _, binary := range corpus(t) {
		ran += compare(t, h, binary)
	}
	if ran < 100 {
		t.Errorf("%d calls ran, want at least 100", ran)
	}
	if _, err := exec.LookPath("wasm-opt"); err != nil {
		t.Skip("no fresh modules: wasm-opt is not installed")
	}
	fresh := 20
	if testing.Short() {
		fresh = 2
	}
	seed := rand.Uint64()
	for i := range uint64(fresh) {
		size := 500 << (i % 4)
		if binary := generate(t, h, seed+i, size); binary != nil {
			if ran += compare(t, h, binary); t.Failed() {
				t.Fatalf("seed %d, size %d", seed+i, size)
			}
			checkPaths(t, "fresh", binary)
		}
	}
	t.Logf("%d calls ran on both forms", ran)
}

// compare calls every export of a module with some arguments in both forms. It gives the number of calls.
func compare(t *testing.T, h *host, binary []byte) (calls int) {
	t.Helper()
	if initsActive(t, binary) {
		return 0
	}
	plain, plainErr := h.original(binary)
	defer plain.close()
	metered, err := h.metered(binary, generous)
	if metered == nil {
		t.Fatal(err)
	}
	defer metered.close()
	if kind(err) != kind(plainErr) {
		t.Fatalf("metered: %v, original: %v", err, plainErr)
	}
	if err != nil {
		return 1
	}
	functions := plain.module.ExportedFunctionDefinitions()
	for name, definition := range functions {
		words := 0
		for _, p := range definition.ParamTypes() {
			if words++; p == 0x7b {
				words++
			}
		}
		sum := fnv.New64a()
		for round := range 3 {
			args := make([]uint64, words)
			for i := range args {
				io.WriteString(sum, name)
				args[i] = sum.Sum64() >> (8 * ((i + round) % 8))
			}
			want, wantErr := plain.call(name, args...)
			got, err := metered.call(name, args...)
			calls++
			if kind(err) != kind(wantErr) {
				t.Fatalf("%s: got %v, want %v", name, err, wantErr)
			}
			if err == nil && !sameResults(definition.ResultTypes(), got, want) {
				t.Fatalf("%s: got %x, want %x", name, got, want)
			}
		}
	}
	n := plain.globals()
	if metered.digest(n) != plain.digest(n) {
		t.Error("memory or globals differ")
	}
	return calls
}

// initsActive reports whether a module uses memory.init with an active segment. Such a segment is dropped once it has
// been written, but wazero 1.12 keeps it: there the metered form is right and the original is not.
func initsActive(t *testing.T, binary []byte) bool {
	t.Helper()
	var active []bool
	used := map[uint32]bool{}
	var ins wasm.Instruction
	for s := range wasm.Sections(binary) {
		r := s.Reader()
		switch s.ID {
		case wasm.SectionCode:
			for range r.U32() {
				body := r.Part(r.U32())
				for range body.U32() {
					body.U32()
					body.Byte()
				}
				for body.Next(&ins) {
					used[ins.Index] = used[ins.Index] || ins.Op == wasm.OpMemoryInit
				}
			}
		case wasm.SectionData:
			for range r.U32() {
				flag := r.U32()
				active = append(active, flag != 1)
				for flag != 1 && r.Next(&ins) && ins.Op != wasm.OpEnd {
				}
				r.Bytes(r.U32())
			}
		}
	}
	for i, is := range active {
		if is && used[uint32(i)] {
			return true
		}
	}
	return false
}

// TestCorpusIsMade makes the corpus: METER_CORPUS=1 go test -run CorpusIsMade.
func TestCorpusIsMade(t *testing.T) {
	if os.Getenv("METER_CORPUS") == "" {
		t.Skip("the corpus is there: METER_CORPUS is not set")
	}
	for seed := range uint64(96) {
		if binary := generate(t, newHost(t), seed, 300+int(seed)*40); binary != nil {
			name := filepath.Join("testdata", "random", strconv.FormatUint(seed, 10)+".wasm")
			if err := os.WriteFile(name, binary, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
