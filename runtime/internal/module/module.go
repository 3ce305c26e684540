// Package module turns the bytes of a WebAssembly module into a provider's module: checked, metered, and fit for the ABI.
// It runs nothing and knows no engine.
package module

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A Module is a provider's module that was checked and metered. It is plain data, not to be changed: nothing of it has
// been compiled or run. Another process may take it over if it trusts the process that made it.
type Module struct {
	Digest   string   // of the original bytes, as in "sha256:9f86…"
	Size     int      // of the original, in bytes
	Manifest []byte   // as packed into the module; nil when the guest must be asked for it
	Exports  []string // of the ABI that it has, sorted
	Code     *meter.Module
}

// Config has what decides on how a module is checked and metered.
type Config struct {
	Limits  limits.Module  // zero fields take the default; TableEntries is replaced by the field below
	Pages   uint32         // of memory, at most, that the module may start with
	Table   uint32         // entries of a table
	Imports []admit.Import // that the host offers
	Cache   Cache          // nil stores nothing
}

// A Cache stores modules from one run of this very program to the next: making one again takes a hundred times as long.
// What it gives is trusted. It must be safe for concurrent use.
type Cache interface {
	// Get returns what the same program, to the last byte, has stored under the key; nil when that is nothing, or
	// damaged.
	Get(key [sha256.Size]byte) []byte
	// Put stores text under the key, in place of what was there. It may fail to.
	Put(key [sha256.Size]byte, text []byte)
}

// Instrument checks and meters a module, or finds it in the cache. Errors are [abi.Error]s that say what does not fit.
func Instrument(cfg *Config, binary []byte) (*Module, error) {
	digest := sha256.Sum256(binary)
	if cfg.Cache == nil {
		return cfg.instrument(binary, digest)
	}
	key := cfg.key(digest)
	if m, err := Decode(cfg.Cache.Get(key)); err == nil && m.Digest == digestName(digest) {
		return m, nil
	}
	m, err := cfg.instrument(binary, digest)
	if err == nil {
		cfg.Cache.Put(key, m.Append(nil))
	}
	return m, err
}

// key names what becomes of a module under all of cfg that decides on that.
func (cfg *Config) key(digest [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%x %+v %d %d", digest, cfg.Limits, cfg.Table, cfg.Pages))
}

func (cfg *Config) instrument(binary []byte, digest [sha256.Size]byte) (*Module, error) {
	shape, err := cfg.admit(binary)
	if err != nil {
		return nil, err
	}
	manifest, err := packedManifest(binary)
	if err != nil {
		return nil, err
	}
	code, err := meter.Rewrite(binary, meter.Config{MemoryPages: MaxPages, TableEntries: cfg.Table, Frames: shape.Frames})
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "the module cannot be metered").Because(err)
	}
	return &Module{
		Digest: digestName(digest), Size: len(binary), Manifest: manifest, Exports: knownExports(shape), Code: code,
	}, nil
}

func digestName(digest [sha256.Size]byte) string { return "sha256:" + hex.EncodeToString(digest[:]) }

// MaxPages is the greatest memory of a metered module, in pages. The memory itself refuses to grow beyond the operator's
// limit, so that the host notices.
const MaxPages = limits.MaxMemory/engine.PageSize - 1

// Binary returns the metered module, as an engine compiles it. It must not be changed.
func (m *Module) Binary() []byte { return m.Code.Binary }

// WithoutCode returns m without the code of its functions: what an engine needs to load native code that was compiled
// before.
func (m *Module) WithoutCode() (*Module, error) {
	binary, err := wasm.StripCode(m.Code.Binary)
	if err != nil {
		return nil, err
	}
	stripped, code := *m, *m.Code
	code.Binary = binary
	stripped.Code = &code
	return &stripped, nil
}

// HasExport reports whether the module has an optional export of the ABI.
func (m *Module) HasExport(export string) bool {
	_, ok := slices.BinarySearch(m.Exports, export)
	return ok
}

// admit refuses modules that are not within the limits, or that do not fit the ABI.
func (cfg *Config) admit(binary []byte) (*admit.Report, error) {
	bounds := cfg.Limits
	bounds.TableEntries = cfg.Table
	shape, err := admit.Check(binary, admit.Config{Limits: bounds, MemoryPages: cfg.Pages, Imports: cfg.Imports})
	if err != nil {
		return nil, err
	}
	return shape, checkExports(shape)
}

// checkExports holds the exports to their exact signatures.
func checkExports(shape *admit.Report) error {
	if _, command := shape.Exports[abi.ExportStart]; command {
		return abi.Errorf(abi.CodeIncompatible, "the module is a command (it exports %s); build a reactor, for Go with -buildmode=c-shared", abi.ExportStart)
	}
	if !shape.Memory {
		return abi.Errorf(abi.CodeIncompatible, "the module exports no memory named %q", abi.ExportMemory)
	}
	if _, ok := shape.Exports[abi.ExportCall]; !ok {
		return abi.Errorf(abi.CodeIncompatible, "the module does not export %s, expected %s: it is no wasmres provider",
			abi.ExportCall, abi.Exports()[abi.ExportCall])
	}
	for name, want := range abi.Exports() {
		if got, ok := shape.Exports[name]; ok && !got.Equal(want) {
			return abi.Errorf(abi.CodeIncompatible, "the module exports %s as %s, expected %s", name, got, want)
		}
	}
	return nil
}

func knownExports(shape *admit.Report) (names []string) {
	for name := range abi.Exports() {
		if _, ok := shape.Exports[name]; ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// packedManifest takes the manifest out of a module; nil when none is packed in.
func packedManifest(binary []byte) ([]byte, error) {
	packed, err := wasm.Custom(binary, abi.ManifestSection)
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "%v", err).Because(err)
	}
	return packed, nil
}
