package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/admit"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/meter"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A Prepared module has been admitted and metered. It is plain data: nothing of it has been compiled or run, and it can
// be taken to another process, which needs to trust nothing but who prepared it.
type Prepared struct {
	digest   string
	size     int
	manifest []byte   // as it is packed in; nil when the guest must be asked
	exports  []string // of this ABI, sorted
	code     *meter.Module
}

// Prepare admits and meters a module, under the limits of cfg, or finds it on cfg.Shelf. Errors are [abi.Error]s that say
// what does not fit.
func Prepare(cfg Config, binary []byte) (*Prepared, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(binary)
	if cfg.Shelf == nil {
		return cfg.prepare(binary, digest)
	}
	key := cfg.key(digest)
	if p, err := DecodePrepared(cfg.Shelf.Find(key)); err == nil && p.digest == name(digest) {
		return p, nil
	}
	p, err := cfg.prepare(binary, digest)
	if err == nil {
		cfg.Shelf.Keep(key, p.Append(nil))
	}
	return p, err
}

func (cfg *Config) prepare(binary []byte, digest [sha256.Size]byte) (*Prepared, error) {
	shape, err := cfg.admit(binary)
	if err != nil {
		return nil, err
	}
	manifest, err := packedManifest(binary)
	if err != nil {
		return nil, err
	}
	code, err := meter.Rewrite(binary, meter.Config{
		MemoryPages: maxPages, TableEntries: cfg.Limits.Table, Frames: shape.Frames,
	})
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "the module cannot be metered").Because(err)
	}
	return &Prepared{
		digest: name(digest), size: len(binary),
		manifest: manifest, exports: knownExports(shape), code: code,
	}, nil
}

// name is what a digest is called.
func name(digest [sha256.Size]byte) string { return "sha256:" + hex.EncodeToString(digest[:]) }

// maxPages leaves it to the memory to refuse more than the limit, so that the refusal is noticed.
const maxPages = limits.MaxMemory/engine.PageSize - 1

// Binary is the metered module, as an engine compiles it. It must not be changed.
func (p *Prepared) Binary() []byte { return p.code.Binary }

// Hollow gives p without the code of its functions: what an engine takes to load native code that was compiled before.
func (p *Prepared) Hollow() (*Prepared, error) {
	binary, err := wasm.Hollow(p.code.Binary)
	if err != nil {
		return nil, err
	}
	hollow, code := *p, *p.code
	code.Binary = binary
	hollow.code = &code
	return &hollow, nil
}

// has reports whether the module has an optional export of this ABI.
func (p *Prepared) has(export string) bool {
	_, ok := slices.BinarySearch(p.exports, export)
	return ok
}

// admit refuses modules whose shape is unbearable, or that do not fit this ABI.
func (cfg *Config) admit(binary []byte) (*admit.Report, error) {
	shapes := cfg.Admission
	shapes.TableEntries = cfg.Limits.Table
	shape, err := admit.Check(binary, admit.Config{
		Limits: shapes, MemoryPages: cfg.Limits.Pages(), Imports: offered(),
	})
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
