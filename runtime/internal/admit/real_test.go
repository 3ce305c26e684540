package admit_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/limits"
)

// hostFunctions are those the runtime offers: the ABI's, and what a Go program imports of WASI.
func hostFunctions() []admit.Import {
	i32, i64 := abi.I32, abi.I64
	wasi := map[string][]abi.ValueType{
		"args_get": {i32, i32}, "args_sizes_get": {i32, i32}, "clock_time_get": {i32, i64, i32}, "environ_get": {i32, i32},
		"environ_sizes_get": {i32, i32}, "fd_close": {i32}, "fd_fdstat_get": {i32, i32}, "fd_fdstat_set_flags": {i32, i32},
		"fd_filestat_get": {i32, i32}, "fd_pread": {i32, i32, i32, i64, i32}, "fd_prestat_get": {i32, i32},
		"fd_prestat_dir_name": {i32, i32, i32}, "fd_read": {i32, i32, i32, i32}, "fd_readdir": {i32, i32, i32, i64, i32},
		"fd_seek": {i32, i64, i32, i32}, "fd_write": {i32, i32, i32, i32}, "path_filestat_get": {i32, i32, i32, i32, i32},
		"path_open": {i32, i32, i32, i32, i32, i64, i64, i32, i32}, "poll_oneoff": {i32, i32, i32, i32},
		"random_get": {i32, i32}, "sched_yield": {},
	}
	all := []admit.Import{{Module: "wasi_snapshot_preview1", Name: "proc_exit", Type: abi.Signature{Params: []abi.ValueType{i32}}}}
	for name, params := range wasi {
		signature := abi.Signature{Params: params, Results: []abi.ValueType{i32}}
		all = append(all, admit.Import{Module: "wasi_snapshot_preview1", Name: name, Type: signature})
	}
	for name, signature := range abi.Imports() {
		all = append(all, admit.Import{Module: abi.ImportModule, Name: name, Type: signature})
	}
	return all
}

func TestGoProgramsAreAdmittedWithRoom(t *testing.T) {
	for _, example := range []string{"hello", "everything"} {
		report, err := admit.Check(guesttest.Binary(t, example), admit.Config{Imports: hostFunctions()})
		if err != nil {
			t.Errorf("%s: %v", example, err)
			continue
		}
		if got, want := report.Exports[abi.ExportCall], abi.Exports()[abi.ExportCall]; !got.Equal(want) || !report.Memory {
			t.Errorf("%s: got %s of type %s, want %s; memory %v", example, abi.ExportCall, got, want, report.Memory)
		}
		if len(report.Frames) != int(report.Peaks.Functions) {
			t.Errorf("%s: got %d frames of %d functions", example, len(report.Frames), report.Peaks.Functions)
		}
		peaks, allowed := reflect.ValueOf(report.Peaks), reflect.ValueOf(limits.Module{}.WithDefaults())
		for i := range peaks.NumField() {
			t.Logf("%s: %-16s %12v of %v", example, peaks.Type().Field(i).Name, peaks.Field(i), allowed.Field(i))
		}
	}
}

// TestTheTestModulesAreJudged says what becomes of each small module that other tests use.
func TestTheTestModulesAreJudged(t *testing.T) {
	refused := map[string]abi.Code{
		"big-memory.wasm":       abi.CodeMemory,
		"reference-export.wasm": abi.CodeIncompatible,
		"unknown-import.wasm":   abi.CodeIncompatible,
		"wrong-import.wasm":     abi.CodeIncompatible,
	}
	files, err := filepath.Glob("../../../testdata/wasm/*.wasm")
	if err != nil || len(files) == 0 {
		t.Fatalf("no modules in testdata: %v", err)
	}
	for _, file := range files {
		binary, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = admit.Check(binary, admit.Config{Imports: hostFunctions()})
		if got, want := abi.CodeOf(err), refused[filepath.Base(file)]; got != want {
			t.Errorf("%s: got code %v (%v), want %v", file, got, err, want)
		}
	}
}
