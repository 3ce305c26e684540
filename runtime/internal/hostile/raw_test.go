//go:build linux

package hostile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// raw returns a module in the form of one that was admitted and metered, though it was neither.
func raw(t testing.TB, c hostile.Case, wasm []byte) *module.Module {
	t.Helper()
	manifest := manifestOf(c, wasm)
	var b []byte
	number := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	text := func(s []byte) { number(len(s)); b = append(b, s...) }
	flag := func(on bool) { number(map[bool]int{true: 1}[on]) }
	exports := claimed(wasm)

	text([]byte("sha256:none"))
	number(len(wasm))
	flag(manifest != nil)
	text(manifest)
	number(len(exports))
	for _, name := range exports {
		text([]byte(name))
	}
	flag(false) // it does not lack data
	text(wasm)
	number(0)       // globals to be restored
	flag(false)     // no start function that was taken out
	number(0)       // pages it begins with, which the engine knows
	number(1 << 16) // pages it may have
	text(nil)       // never gets dirty, it says
	number(0)       // imports no functions, it says
	number(0)       // and has none, so that no stack of it can be named
	number(0)       // data that was taken out

	p, err := module.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rawDir is the compilation cache of a worker that finds modules in the place of native code: it lies beside this program,
// which a worker that has no environment knows as well.
func rawDir() (string, error) { return filepath.Join(filepath.Dir(program), "raw"), programErr }

// rawFile is where a module lies in rawDir while it is open, given its form without code.
func rawFile(stripped []byte) (string, error) {
	digest, err := wasm.Custom(stripped, "origin")
	if err != nil {
		return "", err
	}
	dir, err := rawDir()
	return filepath.Join(dir, "modules", fmt.Sprintf("%x.wasm", digest)), err
}

// The path of this program is looked up before there is a worker that could not any more.
var program, programErr = os.Executable()

// rawModules take the part of a compiler that does nothing. What a worker has refused is refused without one the second
// time.
type rawModules struct {
	laid    sync.Map // files
	refused sync.Map // by the module's address
}

func (r *rawModules) compile(_ context.Context, binary []byte, _ func() ([]byte, error)) (string, error) {
	if len(binary) == 0 {
		return "", abi.Errorf(abi.CodeModule, "the module is empty")
	}
	if _, again := r.refused.LoadAndDelete(&binary[0]); again {
		return "", abi.Errorf(abi.CodeModule, "the worker has refused it")
	}
	stripped, err := wasm.StripCode(binary)
	if err != nil {
		return "", err
	}
	file, err := rawFile(stripped)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	r.laid.Store(file, true)
	dir, err := rawDir()
	if err != nil {
		return "", err
	}
	return dir, errors.Join(enginetest.Kind().InWorker().MakeCacheDir(dir), os.WriteFile(file, binary, 0o600)) // the worker must not make a directory
}

func (r *rawModules) forget(binary []byte) error {
	r.refused.Store(&binary[0], true)
	return nil
}

// clear removes the files.
func (r *rawModules) clear() {
	r.laid.Range(func(file, _ any) bool {
		_ = os.Remove(file.(string))
		return true
	})
}

// claimed are the exports of the ABI whose names are anywhere in the module.
func claimed(module []byte) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(abi.Exports())) {
		if bytes.Contains(module, append([]byte{byte(len(name))}, name...)) {
			names = append(names, name)
		}
	}
	return names
}

// manifestOf is that of the module, if the parent would take it; nil where the module is to be asked; and else one that
// has the worker try the module.
func manifestOf(c hostile.Case, module []byte) []byte {
	packed, err := wasm.Custom(module, abi.ManifestSection)
	if m, bad := abi.DecodeManifest(packed); err == nil && packed != nil && bad == nil && m.Check() == nil {
		return packed
	}
	if err == nil && packed == nil && c.Op != abi.OpDescribe {
		return nil
	}
	m := abi.Manifest{Name: "hostile", Ops: 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete}
	return m.Append(nil)
}
