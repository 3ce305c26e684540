package differential_test

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/internal/differential"
)

func open(tb testing.TB) *differential.Engines {
	tb.Helper()
	e, err := differential.Open()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// setting returns a number of the environment, or another one if it is not set there.
func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// TestGeneratedModules makes more modules with WASMRES_DIFFERENTIAL=10000, and calls each of their functions more often with
// WASMRES_DIFFERENTIAL_ROUNDS=1000. WASMRES_DIFFERENTIAL_KEEP names a folder for modules that differ.
func TestGeneratedModules(t *testing.T) {
	e := open(t)
	endings := differential.Endings{}
	first, rounds := setting("WASMRES_DIFFERENTIAL_FIRST", 0), setting("WASMRES_DIFFERENTIAL_ROUNDS", 24)
	for seed := range setting("WASMRES_DIFFERENTIAL", 20) {
		text := binary.LittleEndian.AppendUint64(nil, uint64(seed+first)*0x9e37_79b9_7f4a_7c15) // all its bytes change with each seed
		of, err := e.Compare(t.Context(), differential.Generate(text), rounds)
		if err != nil {
			keep(t, seed+first, text)
			t.Errorf("seed %d: %v", seed+first, err)
		}
		endings.Add(of)
	}
	t.Logf("%d calls on %d engines: %v", endings.Calls(), e.Len(), endings)
	if returned := endings[differential.Returned]; returned < endings.Calls()/10 || returned == endings.Calls() {
		t.Errorf("%d of %d calls returned: the modules show little", returned, endings.Calls())
	}
}

// keep writes a generated module where a person finds it.
func keep(t *testing.T, seed int, text []byte) {
	dir := os.Getenv("WASMRES_DIFFERENTIAL_KEEP")
	if dir == "" {
		return
	}
	file := filepath.Join(dir, strconv.Itoa(seed)+".wasm")
	if err := os.WriteFile(file, differential.Generate(text), 0o600); err != nil {
		t.Error(err)
	}
}

// The modules of the specification's tests are called with arguments of this package's own.
func TestModulesOfTheSpecification(t *testing.T) {
	e := open(t)
	if e.Len() < 2 {
		t.Skip("built without wasmtime: there is one engine, and nothing to compare")
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest", "v2", "testdata", "*.wasm"))
	if err != nil || len(files) == 0 {
		t.Fatal("no modules: ", err)
	}
	calls, refused, step := 0, 0, 1
	if testing.Short() {
		step = 100
	}
	for i := 0; i < len(files); i += step {
		module, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		of, err := e.Compare(t.Context(), module, 5)
		switch {
		case errors.Is(err, differential.ErrRefused): // invalid, or it imports what is not there
			refused++
		case err != nil:
			t.Errorf("%s: %v", filepath.Base(files[i]), err)
		}
		calls += of.Calls()
	}
	t.Logf("%d calls on %d engines; %d of %d modules refused", calls, e.Len(), refused, len(files)/step)
	if calls == 0 {
		t.Error("nothing was called")
	}
}

// FuzzEngines looks for modules that run differently, and for those that the generator makes wrong.
func FuzzEngines(f *testing.F) {
	for i := range byte(8) {
		f.Add([]byte{i, 3, 200, i, 7, 9})
	}
	e := open(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4<<10 {
			t.Skip()
		}
		module := differential.Generate(text)
		if _, err := admit.Check(module, admit.Config{}); err != nil {
			t.Fatal("an invalid module: ", err)
		}
		if _, err := e.Compare(t.Context(), module, 3); err != nil {
			t.Fatal(err)
		}
	})
}
