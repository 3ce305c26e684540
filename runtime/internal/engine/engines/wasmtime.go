//go:build wasmtime && cgo && linux && amd64

package engines

import (
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/wasmtime"
)

func init() {
	kits[Wasmtime] = kit{
		version:      wasmtime.Version,
		open:         func(cfg engine.Config) (engine.Engine, error) { return opened(wasmtime.Open(cfg)) },
		precompile:   wasmtime.Precompile,
		makeCacheDir: wasmtime.MakeCacheDir,
		fingerprint:  wasmtime.Fingerprint,
		test:         wasmtime.Test,
		warm:         wasmtime.Warm,
		threadStack:  wasmtime.ThreadStack,
	}
	faults := kits[Wasmtime]
	faults.open = func(cfg engine.Config) (engine.Engine, error) { return opened(wasmtime.OpenGuarded(cfg)) }
	faults.precompile, faults.fingerprint = wasmtime.PrecompileGuarded, wasmtime.FingerprintGuarded
	faults.reservation = wasmtime.Reservation
	kits[guarded] = faults
}
