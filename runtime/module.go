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

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/admit"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/meter"
	"github.com/wasmres/wasmres/runtime/snapshot"
	"github.com/wasmres/wasmres/runtime/wasm"
)

const maxConfig = abi.MaxRequest - 1<<10 // bytes; it travels in a request

// Config says how a module is run. Engine is required.
type Config struct {
	Engine   engine.Engine
	Limits   Limits
	Services capability.Services // copied; the notice services are always there
	// Admission bounds the shape of the module. Zero fields take the default; those that follow from Limits are
	// replaced.
	Admission admit.Limits
	// Lifecycle is the most that the provider is granted of what its manifest may ask for. Zero grants none but
	// abi.LifecycleFresh.
	Lifecycle abi.Lifecycle
	// Notify takes the guest's notices: the URI of a changed resource, or the empty string when the list has changed.
	// It must not block. Nil drops them.
	Notify func(uri string)
	// Observe is told about each call when it has ended. It must not block. Nil drops that.
	Observe func(Usage)
	// Config is handed, as a JSON object, to guests that implement abi.OpConfigure. Empty for none.
	Config string
	Logger *slog.Logger // nil discards
}

func (cfg *Config) fill() (err error) {
	if cfg.Limits, err = cfg.Limits.WithDefaults(); err != nil {
		return err
	}
	if len(cfg.Config) > maxConfig {
		return fmt.Errorf("the configuration has %d bytes, at most %d are allowed", len(cfg.Config), maxConfig)
	}
	cfg.Services = maps.Clone(cfg.Services)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// A Module is a loaded provider module. It is safe for concurrent use.
type Module struct {
	// fixed once it is loaded
	cfg      Config
	digest   string
	size     int
	packed   bool
	manifest *abi.Manifest
	shape    *admit.Report
	code     *meter.Module
	compiled engine.Module
	image    *snapshot.Image // nil when the guest has changed what no image holds while it started
	globals  []uint64        // of the image
	granted  abi.Lifecycle
	keeper   keeper

	slots   chan struct{} // holds a token for each call that may begin
	crowded string        // what is said when there is none
	closing chan struct{} // closed when no call may start any more
	close   func() error  // works once
}

// Load admits, meters, compiles, starts and describes a module. ctx bounds the work. Errors are [abi.Error]s that say
// what does not fit.
func Load(ctx context.Context, cfg Config, binary []byte) (*Module, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(binary)
	m := &Module{
		cfg: cfg, digest: "sha256:" + hex.EncodeToString(digest[:]), size: len(binary), manifest: &abi.Manifest{},
		slots: make(chan struct{}, cfg.Limits.Calls), closing: make(chan struct{}),
	}
	for range cap(m.slots) {
		m.slots <- struct{}{}
	}
	m.crowded = fmt.Sprintf("%d calls are running already", cap(m.slots))
	m.close = sync.OnceValue(m.release)
	if err := m.load(ctx, binary); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Module) load(ctx context.Context, binary []byte) (err error) {
	if err := m.admit(binary); err != nil {
		return err
	}
	if err := m.readManifest(binary); err != nil {
		return err
	}
	m.code, err = meter.Rewrite(binary, meter.Config{
		MemoryPages: maxPages, TableEntries: m.cfg.Limits.Table, Frames: m.shape.Frames,
	})
	if err != nil {
		return abi.Errorf(abi.CodeModule, "the module cannot be metered").Because(err)
	}
	m.compiled, err = m.cfg.Engine.Compile(ctx, m.code.Binary, hostFuncs())
	if err != nil {
		return err
	}
	return m.start(ctx)
}

// maxPages leaves it to the memory to refuse more than the limit, so that the refusal is noticed.
const maxPages = maxMemory/engine.PageSize - 1

// memoryLimit is the bytes of memory an instance may have, as the operator and the module say.
func (m *Module) memoryLimit() uint64 {
	return min(m.cfg.Limits.Memory, uint64(m.code.MaxPages)*engine.PageSize)
}

// admit refuses modules whose shape is unbearable, or that do not fit this ABI.
func (m *Module) admit(binary []byte) (err error) {
	limits := m.cfg.Admission
	limits.TableEntries = m.cfg.Limits.Table
	m.shape, err = admit.Check(binary, admit.Config{
		Limits: limits, MemoryPages: m.cfg.Limits.pages(), Imports: offered(),
	})
	if err != nil {
		return err
	}
	return checkExports(m.shape)
}

// readManifest takes the manifest out of the module, if it is packed in.
func (m *Module) readManifest(binary []byte) error {
	packed, err := wasm.Custom(binary, abi.ManifestSection)
	if err != nil {
		return abi.Errorf(abi.CodeModule, "%v", err).Because(err)
	}
	if packed == nil {
		return nil
	}
	m.packed = true
	m.manifest, err = abi.DecodeManifest(packed)
	if err != nil {
		return err
	}
	return checkClaims(m.manifest)
}

// start boots the first instance, makes the image of it, and keeps it for the first call.
func (m *Module) start(ctx context.Context) error {
	var ask step
	if !m.packed {
		ask = m.describe
	}
	s, err := m.boot(ctx, ask)
	if err != nil {
		return err
	}
	if err := errors.Join(m.snap(s), s.close()); err != nil {
		return err
	}
	m.granted = m.grantLifecycle()
	m.keeper = m.newKeeper()
	return nil
}

// describe asks the guest for its manifest.
func (m *Module) describe(ctx *bounded, s *sandbox) error {
	reply, err := s.run(ctx, abi.OpDescribe, &abi.Request{HostMinor: abi.Minor}, nil)
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

// exports reports whether the module has an optional export of this ABI.
func (m *Module) exports(name string) bool {
	_, ok := m.shape.Exports[name]
	return ok
}

// Manifest describes the provider. It must not be changed.
func (m *Module) Manifest() *abi.Manifest { return m.manifest }

// Digest is the SHA-256 of the module's bytes, as in "sha256:9f86…".
func (m *Module) Digest() string { return m.digest }

// Size is the module's bytes.
func (m *Module) Size() int { return m.size }

// Packed reports whether the manifest was read from the module without running it.
func (m *Module) Packed() bool { return m.packed }

// Lifecycle is the one in force: what the manifest asks for, as far as it is granted.
func (m *Module) Lifecycle() abi.Lifecycle { return m.granted }

// Limits are those in force.
func (m *Module) Limits() Limits { return m.cfg.Limits }

// Close waits for running calls and releases the module. Calls that have not begun are abi.CodeUnavailable from then
// on. It is idempotent.
func (m *Module) Close() error { return m.close() }

func (m *Module) discardAll(list []*sandbox, why error) {
	for _, s := range list {
		m.discard(s, why)
	}
}

func (m *Module) release() error {
	close(m.closing)
	for range cap(m.slots) {
		<-m.slots
	}
	var errs []error
	if m.keeper != nil {
		m.keeper.close()
	}
	if m.image != nil {
		errs = append(errs, m.image.Close())
	}
	if m.compiled != nil {
		errs = append(errs, m.compiled.Close())
	}
	return errors.Join(errs...)
}

// discard releases an instance, if there is one, that is not used again.
func (m *Module) discard(s *sandbox, why error) {
	if s == nil {
		return
	}
	m.cfg.Logger.Debug("instance discarded", "why", clip(why))
	if err := s.close(); err != nil {
		m.cfg.Logger.Warn("instance close failed", "err", clip(err))
	}
}
