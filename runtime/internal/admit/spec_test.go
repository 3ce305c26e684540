package admit_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/limits"
)

// wazeroDir is the source of wazero in the module cache; the test suite of the core specification is in it.
var wazeroDir = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	return strings.TrimSpace(string(out)), err
})

// A specModule is a module of the suite, and what the suite says about it.
type specModule struct {
	name    string // "v2/align.12"
	kind    string // the command: module, assert_invalid, …
	binary  []byte
	message string
}

// specModules returns the binary modules of the suite for the core specification 1.0 and 2.0.
func specModules(t testing.TB) []specModule {
	t.Helper()
	dir, err := wazeroDir()
	if err != nil {
		t.Fatal(err)
	}
	var all []specModule
	for _, version := range []string{"v1", "v2"} {
		data := filepath.Join(dir, "internal", "integration_test", "spectest", version, "testdata")
		files, err := filepath.Glob(filepath.Join(data, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no test suite in %s: %v", data, err)
		}
		for _, file := range files {
			all = append(all, readSpec(t, version, file)...)
		}
	}
	return all
}

func readSpec(t testing.TB, version, file string) []specModule {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Commands []struct {
			Type, Filename, Text string
		}
	}
	if err := json.Unmarshal(text, &suite); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var found []specModule
	for _, command := range suite.Commands {
		name, binary := strings.CutSuffix(command.Filename, ".wasm")
		if !binary {
			continue
		}
		module, err := os.ReadFile(filepath.Join(filepath.Dir(file), command.Filename))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, specModule{version + "/" + name, command.Type, module, command.Text})
	}
	return found
}

// generous is limits that no module of the suite meets.
var generous = admit.Config{
	MemoryPages: 65_536,
	Limits: limits.Module{
		TableEntries: 1<<32 - 1, Params: 1_000, Results: 1_000, Name: 10_000, Tables: 100, Nesting: 100_000,
		Locals: 1<<32 - 1, TotalLocals: 1<<32 - 1, Labels: 100_000, Blocks: 100_000, Cost: time.Hour,
	},
}

// specExceptions are modules the suite and we do not agree about, and why.
var specExceptions = map[string]string{
	"v1/binary.47":            tooManyLocals,
	"v2/binary.53":            tooManyLocals,
	"v2/binary.54":            tooManyLocals,
	"v1/func.20":              multiValue,
	"v1/func.21":              multiValue,
	"v1/type.3":               multiValue,
	"v1/type.4":               multiValue,
	"v1/imports.47":           manyTables,
	"v1/imports.48":           manyTables,
	"v1/imports.49":           manyTables,
	"v1/unreached-invalid.87": "1.0 wants the labels of an unreachable br_table to agree; 2.0 does not",
}

const (
	multiValue    = "1.0 has one result at most; 2.0 has many"
	tooManyLocals = "2^32 locals are malformed; here a limit says so, whatever it is"
	manyTables    = "1.0 has one table at most; 2.0 has many"
)

func TestTheSpecificationSuiteAgrees(t *testing.T) {
	count := map[string]int{}
	for _, m := range specModules(t) {
		if testing.Short() && strings.Contains(m.name, "/simd_") {
			continue
		}
		count[m.kind]++
		_, err := admit.Validate(m.binary, generous)
		if why, ok := specExceptions[m.name]; ok {
			if (err != nil) != (why == tooManyLocals) {
				t.Errorf("%s %s: got %v, but %s", m.kind, m.name, err, why)
			}
			continue
		}
		switch m.kind {
		case "module", "assert_unlinkable", "assert_uninstantiable", "assert_trap":
			if err != nil {
				t.Errorf("%s %s (%s): got %v, want it admitted", m.kind, m.name, m.message, err)
			}
		case "assert_invalid", "assert_malformed":
			if err == nil {
				t.Errorf("%s %s: admitted, want %q", m.kind, m.name, m.message)
			} else if tooMuch := new(admit.LimitError); abi.CodeOf(err) != abi.CodeModule || errors.As(err, &tooMuch) {
				t.Errorf("%s %s: got code %v (%v), want %v without a limit", m.kind, m.name, abi.CodeOf(err), err, abi.CodeModule)
			}
		default:
			t.Errorf("%s: unknown command %s", m.name, m.kind)
		}
	}
	t.Logf("modules: %v", count)
}
