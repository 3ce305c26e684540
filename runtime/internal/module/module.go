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
	"github.com/wasmres/wasmres/runtime/internal/fair"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A Module is a provider's module that was checked and metered. It is plain data, which must not be changed: it has not
// been compiled or run. A process may use it if it trusts the process that made it.
type Module struct {
	Digest   string   // of the original bytes, as in "sha256:9f86…"
	Size     int      // of the original, in bytes
	Manifest []byte   // as packed into the module; nil if the guest must be asked
	Exports  []string // of the ABI that it has, sorted
	// Code is the metered module. In a light module it has only the numbers of functions: see [Module.Light].
	Code *meter.Module

	stored *stored // where it can be loaded from again; nil for nowhere
	light  bool
	noData bool // see [Module.WithoutData]
}

// Config has everything on which checking and metering depend.
type Config struct {
	Limits  limits.Module  // zero fields take the default; TableEntries is replaced by the field below
	Pages   uint32         // of memory, at most, that the module may start with
	Table   uint32         // entries of a table
	Imports []admit.Import // functions of the host
	Cache   Cache          // nil stores nothing
	// Source returns the bytes of the module again, for when the cache no longer has it. Nil, or without a Cache, a module
	// does not become light.
	Source func() ([]byte, error)
	Share  *fair.Share // pays for the processor time of checking and metering; nil for none
}

// A Cache stores modules from one run of this program to the next: making one again takes a hundred times as long. Its
// content is trusted. It must be safe for concurrent use.
type Cache interface {
	// Get returns the text that exactly the same program has stored under the key; nil if there is none, or it is
	// damaged.
	Get(key [sha256.Size]byte) []byte
	// Put stores text under the key, replacing an earlier one. It may fail silently.
	Put(key [sha256.Size]byte, text []byte)
}

// Instrument checks and meters a module, or finds it in the cache. Errors are [abi.Error]s that say what does not fit.
func Instrument(cfg *Config, binary []byte) (*Module, error) {
	digest := sha256.Sum256(binary)
	if cfg.Cache == nil {
		return cfg.instrument(binary, digest)
	}
	m := cfg.cached(digest)
	if m == nil {
		var err error
		cfg.Share.Charge(process.CPUOf(func() { m, err = cfg.instrument(binary, digest) }))
		if err != nil {
			return nil, err
		}
		cfg.Cache.Put(cfg.key(digest), m.Append(nil))
	}
	if cfg.Source != nil {
		m.stored = &stored{cfg: *cfg, digest: digest}
	}
	return m, nil
}

// cached returns the module that the cache has; nil if it has none.
func (cfg *Config) cached(digest [sha256.Size]byte) *Module {
	m, err := Decode(cfg.Cache.Get(cfg.key(digest)))
	if err != nil || m.Digest != digestName(digest) {
		return nil
	}
	return m
}

// key returns the cache key of a module under cfg.
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

// MaxPages is the largest memory of a metered module, in pages. The memory itself refuses to grow beyond the operator's
// limit, so that the host notices.
const MaxPages = limits.MaxMemory/engine.PageSize - 1

// Binary returns the metered module, as an engine compiles it; nothing if m is light. It must not be changed.
func (m *Module) Binary() []byte { return m.Code.Binary }

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

// checkExports checks that the exports have their exact signatures.
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

// packedManifest returns the manifest in a module; nil when there is none.
func packedManifest(binary []byte) ([]byte, error) {
	packed, err := wasm.Custom(binary, abi.ManifestSection)
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "%v", err).Because(err)
	}
	return packed, nil
}
