package guesttest

import (
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

// Crashing returns the path of a provider that crashes as its URI says, in a language: Go, Rust, C, AssemblyScript or
// JavaScript. It has the resources crash://KIND/N, of which N is a number that changes how far it runs before that.
func Crashing(tb testing.TB, l project.Language) string {
	tb.Helper()
	wasm := filepath.Join(sourcetree.Root(), "testdata", "wasm")
	switch l {
	case project.Go:
		return ofKit(tb, "crash")
	case project.Rust:
		return Cargo(tb, filepath.Join(wasm, "crash-rust"), "crash_rust")
	case project.C:
		return CModule(tb, "wasm32", "-O2 -mbulk-memory", "-nostdlib -Wl,--no-entry", "crash.c")
	case project.AssemblyScript:
		return AssemblyScript(tb, kitDir(l), "crash.ts")
	default:
		return Packed(tb, filepath.Join(wasm, "crash-javascript"), l)
	}
}

// ofKit builds the provider in Go that is in a folder of the kit.
func ofKit(tb testing.TB, name string) string {
	tb.Helper()
	dir := filepath.Join(kitDir(project.Go), name)
	return Made(tb, name+"-go.wasm", Inputs{Trees: []string{dir, sdkDir(project.Go)}}, func(file string) {
		env := []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS="}
		Run(tb, dir, env, "go", "build", "-buildmode=c-shared", "-trimpath", "-o", file, ".") // as examples are built
	})
}

// Heavy returns the path of a provider whose reads compute much, in a language: Rust, with heavy://markdown, Go, with heavy://valid and
// heavy://recode, or JavaScript, with heavy://objects.
func Heavy(tb testing.TB, l project.Language) string {
	tb.Helper()
	wasm := filepath.Join(sourcetree.Root(), "testdata", "wasm")
	switch l {
	case project.Rust:
		return debianCargo(tb, filepath.Join(wasm, "heavy-rust"), "heavy_rust", "pulldown-cmark")
	case project.Go:
		return ofKit(tb, "heavy")
	default:
		return Packed(tb, filepath.Join(wasm, "heavy-javascript"), l)
	}
}

// Computing returns the path of a provider whose reads keep a processor busy: compute://N for N thousand steps, of about 2 ns each.
func Computing(tb testing.TB) string {
	tb.Helper()
	return CModule(tb, "wasm32", "-O2 -mbulk-memory", "-nostdlib -Wl,--no-entry", "compute.c")
}
