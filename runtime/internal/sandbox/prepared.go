package sandbox

import (
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/instance"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/symbol"
)

// Prepare checks and meters a module within the limits of cfg, or finds it in cfg.ModuleCache. Errors are [abi.Error]s.
func Prepare(cfg Config, binary []byte) (*module.Module, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	return module.Instrument(&module.Config{
		Limits: cfg.Admission, Pages: cfg.Limits.Pages(), Table: cfg.Limits.Table, Imports: instance.Imports(), Cache: cfg.ModuleCache,
	}, binary)
}

// findSymbols gives the names of the module's functions, by index, from cfg.Symbols; nil when they have none.
func (m *Module) findSymbols() symbol.Names {
	if m.cfg.Symbols == nil {
		return nil
	}
	names, err := m.prepared.FunctionNames(m.cfg.Symbols)
	if err != nil {
		m.cfg.Logger.Debug("functions have no names", "err", guest.Truncate(err))
	}
	return names
}
