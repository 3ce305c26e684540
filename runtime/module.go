package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/wasm"
)

const (
	maxModule = 64 << 20               // bytes
	maxConfig = abi.MaxRequest - 1<<10 // bytes; it travels in a request
)

// Config says how a module is run. Engine is required.
type Config struct {
	Engine   engine.Engine
	Limits   Limits
	Services capability.Services // copied; the notice services are always there
	// Notify takes the guest's notices: the URI of a changed resource, or the empty string when the list has changed.
	// It must not block. Nil drops them.
	Notify func(uri string)
	// Config is handed, as a JSON object, to guests that implement abi.OpConfigure. Empty for none.
	Config string
	// Spares is how many instances are kept ready. 0 means 2; negative means none.
	Spares int
	Logger *slog.Logger // nil discards
}

// A Module is a loaded provider module. It is safe for concurrent use.
type Module struct {
	// fixed at creation
	cfg      Config
	digest   string
	size     int
	packed   bool
	manifest *abi.Manifest
	compiled engine.Module

	slots   chan struct{} // one for each running call
	closing chan struct{} // closed when no call may start any more
	close   func() error  // works once
	ready   *spares
}

// Load checks, compiles and describes a module. ctx bounds the work. Errors are [abi.Error]s that say what does not
// fit.
func Load(ctx context.Context, cfg Config, binary []byte) (*Module, error) {
	limits, err := cfg.Limits.WithDefaults()
	if err != nil {
		return nil, err
	}
	cfg.Limits = limits
	cfg.Services = maps.Clone(cfg.Services)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if len(cfg.Config) > maxConfig {
		return nil, fmt.Errorf("the configuration has %d bytes, at most %d are allowed", len(cfg.Config), maxConfig)
	}
	if len(binary) > maxModule {
		return nil, abi.Errorf(abi.CodeModule, "the module has %d bytes, at most %d are allowed", len(binary), maxModule)
	}
	packed, err := wasm.Custom(binary, abi.ManifestSection)
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "%v", err).Because(err)
	}
	compiled, err := cfg.Engine.Compile(ctx, binary, hostFuncs(), limits.pages())
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(binary)
	m := &Module{
		cfg: cfg, digest: "sha256:" + hex.EncodeToString(digest[:]), size: len(binary), packed: packed != nil,
		compiled: compiled, slots: make(chan struct{}, limits.Calls), closing: make(chan struct{}),
	}
	m.close = sync.OnceValue(m.release)
	m.ready = newSpares(cfg.Spares, m.instantiate)
	if err := m.describe(ctx, packed); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// describe checks the exports and gets the manifest: from the module if it is packed in, else from the guest, which is
// asked once.
func (m *Module) describe(ctx context.Context, packed []byte) error {
	if err := checkExports(m.compiled); err != nil {
		return err
	}
	if packed != nil {
		manifest, err := abi.DecodeManifest(packed)
		if err != nil {
			return err
		}
		m.manifest = manifest
		return checkClaims(manifest)
	}
	m.manifest = &abi.Manifest{} // while the guest is asked
	reply, err := m.Call(ctx, abi.OpDescribe, &abi.Request{HostMinor: abi.Minor}, nil)
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	if reply.Manifest == nil {
		return abi.Errorf(abi.CodeProtocol, "describe emitted no manifest")
	}
	m.manifest = reply.Manifest
	if err := m.manifest.Check(); err != nil {
		return err
	}
	return checkClaims(m.manifest)
}

// checkClaims holds a manifest's own resources to the URIs it claims.
func checkClaims(manifest *abi.Manifest) error {
	for i := range manifest.Resources {
		if err := checkPrefix(manifest, manifest.Resources[i].URI); err != nil {
			return fmt.Errorf("manifest: resource %d: %w", i, err)
		}
	}
	return nil
}

// checkExports holds the exports to their exact signatures.
func checkExports(compiled engine.Module) error {
	exports := compiled.Exports()
	if _, command := exports[abi.ExportStart]; command {
		return abi.Errorf(abi.CodeIncompatible, "the module is a command (it exports %s); build a reactor, for Go with -buildmode=c-shared", abi.ExportStart)
	}
	if !compiled.HasMemory() {
		return abi.Errorf(abi.CodeIncompatible, "the module exports no memory named %q", abi.ExportMemory)
	}
	if _, ok := exports[abi.ExportCall]; !ok {
		return abi.Errorf(abi.CodeIncompatible, "the module does not export %s, expected %s: it is no wasmres provider",
			abi.ExportCall, abi.Exports()[abi.ExportCall])
	}
	for name, want := range abi.Exports() {
		if got, ok := exports[name]; ok && !got.Equal(want) {
			return abi.Errorf(abi.CodeIncompatible, "the module exports %s as %s, expected %s", name, got, want)
		}
	}
	return nil
}

// Manifest describes the provider. It must not be changed.
func (m *Module) Manifest() *abi.Manifest { return m.manifest }

// Digest is the SHA-256 of the module's bytes, as in "sha256:9f86…".
func (m *Module) Digest() string { return m.digest }

// Size is the module's bytes.
func (m *Module) Size() int { return m.size }

// Packed reports whether the manifest was read from the module without running it.
func (m *Module) Packed() bool { return m.packed }

// Limits are those in force.
func (m *Module) Limits() Limits { return m.cfg.Limits }

// Close waits for running calls and releases the module. Calls that have not begun are abi.CodeUnavailable from then
// on. It is idempotent.
func (m *Module) Close() error { return m.close() }

func (m *Module) release() error {
	close(m.closing)
	for range cap(m.slots) {
		m.slots <- struct{}{}
	}
	m.ready.close()
	return m.compiled.Close()
}

// instantiate makes an instance that has initialised itself.
func (m *Module) instantiate(ctx context.Context) (_ *sandbox, err error) {
	defer contain(&err)
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Limits.Timeout)
	defer cancel()
	s := &sandbox{module: m}
	s.begin(&call{module: m, deadline: time.Now().Add(m.cfg.Limits.Timeout)})
	inst, err := m.compiled.Instantiate(ctx, s)
	if err != nil {
		return nil, s.classify(ctx, err)
	}
	s.inst = inst
	if err := s.initialize(ctx); err != nil {
		return nil, errors.Join(err, inst.Close())
	}
	return s, nil
}
