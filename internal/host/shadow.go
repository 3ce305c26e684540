package host

import (
	"log/slog"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// Bounds of all second runs of a Host.
const (
	maxShadows      = 1       // at once; calls beyond have none
	shadowProcesses = 4       // that run
	shadowMemory    = 1 << 28 // bytes of their own that these may use before another starts
)

// shadows bound the second runs of calls on the other engine.
type shadows struct {
	// fixed at creation
	slots chan struct{}
	live  *runtime.Live
}

func newShadows() (shadows, error) {
	live, err := runtime.NewLive(runtime.LiveConfig{Max: shadowProcesses, Memory: shadowMemory})
	return shadows{make(chan struct{}, maxShadows), live}, err
}

// shadow has one of so many calls run on the other engine as well; nil for none.
func (h *Host) shadow(oneOf int) *runtime.Compare {
	if oneOf == 0 {
		return nil
	}
	return &runtime.Compare{OneOf: oneOf, Slots: h.shadows.slots, Live: h.shadows.live}
}

// compared reports how a call of a provider ended that ran twice. Without the tenant's consent to recorded sessions there is none.
func (h *Host) compared(of tenant.ProviderID, s *spec, d *app.Difference, failed error, logger *slog.Logger) {
	switch {
	case failed != nil:
		logger.Debug("call not run on the other engine", "err", failed)
		h.cfg.NotCompared(abi.CodeOf(failed))
	case d != nil:
		logger.Error("engines differ", "digest", d.Digest, "operation", d.Op.String(), "in", d.In)
		told := *d
		if !s.provider.RecordCrashes {
			told.Session = nil
		}
		h.cfg.Differed(of, &told, s.uris)
	}
}
