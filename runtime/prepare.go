package runtime

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/runtime/internal/fair"
	"github.com/wasmres/wasmres/runtime/internal/instance"
	"github.com/wasmres/wasmres/runtime/internal/module"
)

// A Prepared is a module that is valid and within its limits. A Host that opens it with the same options finds what was
// prepared in its cache.
type Prepared struct {
	Digest string // of the module, as in "sha256:9f86…"
	Code   string // digest of the code that runs; modules that differ in custom sections only have the same

	host   *Host
	file   string
	engine *native
	module *module.Module // without code and data, if they can be loaded again
	share  *fair.Share
}

// Prepare checks the module in a file of at most 64 MiB, as Open does before it compiles anything, and runs nothing. Of opts
// the limits and the Engine count, and the Share, which pays for that and for Compile. ctx bounds waiting, as that of Open. The file
// stays as it is until Compile has returned. Errors have the codes of Open's.
func (h *Host) Prepare(ctx context.Context, file string, opts *Options) (*Prepared, error) {
	o := opts.withDefaults()
	limits, err := o.Limits.WithDefaults()
	if err != nil {
		return nil, err
	}
	engine, err := h.engineOf(o.Engine)
	if err != nil {
		return nil, err
	}
	leave, err := h.enterOpening(ctx, file)
	if err != nil {
		return nil, err
	}
	defer leave()
	binary, err := readModule(file)
	if err != nil {
		return nil, err
	}
	m, err := module.Instrument(&module.Config{
		Limits: o.ModuleLimits, Pages: limits.Pages(), Table: limits.Table, Imports: instance.Imports(), Cache: h.modules,
		Source: func() ([]byte, error) { return readModule(file) }, Share: o.Share.shareOf(),
	}, binary)
	if err != nil {
		return nil, err
	}
	if m.Binary() == nil {
		return nil, errors.New("the cached module has no code")
	}
	return &Prepared{
		Digest: m.Digest, Code: digestOf(m.Binary()), host: h, file: file, engine: engine, module: m.Light(), share: o.Share.shareOf(),
	}, nil
}

// Compile has the native code of the module in the Host's cache. Where modules are compiled in this process, it does nothing:
// Open compiles them. While the module waits to be compiled, it is not in memory. Compile returns soon after ctx ends.
func (p *Prepared) Compile(ctx context.Context) error {
	if p.engine.compile == nil {
		return nil
	}
	leave, err := p.host.enterOpening(ctx, p.file)
	if err != nil {
		return err
	}
	defer leave()
	whole, err := p.module.Load()
	if err != nil {
		return err
	}
	if p.module.IsLight() {
		leave()
	}
	return p.engine.compile(p.share.Context(ctx), whole.Binary(), p.module.Loader())
}
