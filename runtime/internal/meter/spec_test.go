package meter_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tetratelabs/wazero/api"
)

// specAssertions is what of the specification's tests must run at least, so that they do not get fewer unseen.
const specAssertions = 40_000

// A command is one of the specification's tests, as wast2json writes them.
type command struct {
	Type     string `json:"type"`
	Line     int    `json:"line"`
	Filename string `json:"filename"`
	Action   struct {
		Type   string     `json:"type"`
		Module string     `json:"module"`
		Field  string     `json:"field"`
		Args   []argument `json:"args"`
	} `json:"action"`
}

type argument struct {
	Type  string `json:"type"`
	Lane  string `json:"lane_type"`
	Value any    `json:"value"`
}

// words returns an argument as the engine takes it.
func (a argument) words(t *testing.T) []uint64 {
	t.Helper()
	if a.Type != "v128" {
		return []uint64{number(t, a.Value.(string), 64)}
	}
	var bytes [16]byte
	lanes := a.Value.([]any)
	width := 16 / len(lanes)
	for i, lane := range lanes {
		v := number(t, lane.(string), 64)
		for j := range width {
			bytes[i*width+j] = byte(v >> (8 * j))
		}
	}
	var words [2]uint64
	for i, b := range bytes {
		words[i/8] |= uint64(b) << (8 * (i % 8))
	}
	return words[:]
}

func number(t *testing.T, s string, bits int) uint64 {
	t.Helper()
	if s == "null" {
		return 0
	}
	if v, err := strconv.ParseUint(s, 10, bits); err == nil {
		return v
	}
	v, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(v)
}

// TestSpecificationHoldsForBothForms runs the specification's tests on modules as they are and metered, and compares.
func TestSpecificationHoldsForBothForms(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest", "v2", "testdata")
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no tests of the specification: ", err)
	}
	least := int64(specAssertions)
	if underRace || testing.Short() { // vectors are most of it, and change nothing here
		least = 15_000
		files = slices.DeleteFunc(files, func(file string) bool { return strings.HasPrefix(filepath.Base(file), "simd_") })
	}
	if testing.Short() {
		least = 1000
		files = slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file)[0]%4 != 0 })
	}
	var ran atomic.Int64
	t.Run("files", func(t *testing.T) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
				t.Parallel()
				s := &script{host: newHost(t), folder: folder}
				s.run(t, file)
				ran.Add(s.ran)
			})
		}
	})
	t.Logf("%d assertions ran on both forms", ran.Load())
	if ran.Load() < least {
		t.Errorf("%d assertions ran, want at least %d", ran.Load(), least)
	}
}

// A script is one file of tests in progress.
type script struct {
	host    *host
	folder  string
	plain   *guest // nil while the module is one we cannot run
	metered *guest
	ran     int64
}

func (s *script) run(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct{ Commands []command }
	if err := json.Unmarshal(text, &parsed); err != nil {
		t.Fatal(err)
	}
	for _, c := range parsed.Commands {
		switch c.Type {
		case "module", "assert_uninstantiable":
			s.load(t, c)
		case "assert_return", "action", "assert_trap", "assert_exhaustion":
			if s.plain != nil && c.Action.Module == "" && c.Action.Type == "invoke" {
				s.invoke(t, c)
			}
		}
	}
	s.finish(t, "at the end")
}

// load replaces the module. Modules that import more than functions, or functions that the test has not, are left out.
func (s *script) load(t *testing.T, c command) {
	t.Helper()
	s.finish(t, fmt.Sprintf("before line %d", c.Line))
	binary, err := os.ReadFile(filepath.Join(s.folder, c.Filename))
	if err != nil {
		t.Fatal(err)
	}
	plain, plainErr := s.host.original(binary)
	if plainErr != nil && c.Type == "module" {
		return
	}
	metered, err := s.host.metered(binary, generous)
	switch {
	case err != nil && strings.HasSuffix(err.Error(), "is not a function"):
		return
	case plainErr != nil && err != nil:
		s.ran++
	case err != nil && c.Type == "assert_uninstantiable": // wazero makes instances whose element segments do not fit
		s.ran++
		plain.close()
	case plainErr != nil || err != nil:
		t.Errorf("line %d: original: %v, metered: %v", c.Line, plainErr, err)
	default:
		s.plain, s.metered = plain, metered
	}
}

// finish compares what the module has left in its state.
func (s *script) finish(t *testing.T, when string) {
	t.Helper()
	if s.plain == nil {
		return
	}
	n := s.plain.globals()
	if got, want := s.metered.digest(n), s.plain.digest(n); got != want {
		t.Errorf("%s: memory or globals differ", when)
	}
	s.plain.close()
	s.metered.close()
	s.plain, s.metered = nil, nil
}

func (s *script) invoke(t *testing.T, c command) {
	t.Helper()
	var args []uint64
	for _, a := range c.Action.Args {
		args = append(args, a.words(t)...)
	}
	want, wantErr := s.plain.call(c.Action.Field, args...)
	got, err := s.metered.call(c.Action.Field, args...)
	s.ran++
	if c.Type == "assert_exhaustion" {
		if depth := int32(s.metered.depth.Get()); err == nil || depth >= 0 {
			t.Errorf("line %d: got %v with depth %d, want a stop with depth below zero", c.Line, err, depth)
		}
		return
	}
	if kind(err) != kind(wantErr) {
		t.Fatalf("line %d: %s: got %v, want %v", c.Line, c.Action.Field, err, wantErr)
	}
	types := s.plain.module.ExportedFunction(c.Action.Field).Definition().ResultTypes()
	if err == nil && !sameResults(types, got, want) {
		t.Errorf("line %d: %s%x: got %x, want %x", c.Line, c.Action.Field, args, got, want)
	}
	if depth := int32(s.metered.depth.Get()); err == nil && depth != s.metered.stack {
		t.Errorf("line %d: depth is %d after the call, want %d as before", c.Line, depth, s.metered.stack)
	}
}

// sameResults compares results bit by bit, but any not-a-number is like any other, and references have no value.
func sameResults(types []api.ValueType, got, want []uint64) bool {
	at := 0
	for _, t := range types {
		a, b := got[at], want[at]
		switch {
		case t == api.ValueTypeF32 && isNaN32(a) && isNaN32(b):
		case t == api.ValueTypeF64 && math.IsNaN(math.Float64frombits(a)) && math.IsNaN(math.Float64frombits(b)):
		case t == api.ValueTypeExternref || t == 0x70:
			if (a == 0) != (b == 0) {
				return false
			}
		case a != b:
			return false
		}
		at++
		if t == 0x7b {
			if got[at] != want[at] {
				return false
			}
			at++
		}
	}
	return true
}

func isNaN32(v uint64) bool { return api.DecodeF32(v) != api.DecodeF32(v) }
