package runtime

import (
	"context"
	"errors"
	"log/slog"

	"github.com/wasmres/wasmres/abi"
)

// A guestHost has what the calls of one module share: what its guests may do, and what the host makes of what they say.
// It knows nothing of the module's code, nor of where its guests run.
type guestHost struct {
	// fixed at creation
	limits    Limits // all filled
	services  map[abi.Service]*grantedService
	notify    func(ctx context.Context, uri string)                     // as Config.Notify
	ungranted func(ctx context.Context, id abi.Service, request []byte) // as Config.Ungranted
	logger    *slog.Logger
	asks      chan *ask // that wait for a call

	// fixed once the manifest is known
	manifest  *abi.Manifest // not nil
	lifecycle abi.Lifecycle // in force
}

func newGuestHost(cfg *Config) *guestHost {
	return &guestHost{
		limits: cfg.Limits, services: grantedServices(cfg.Services), notify: cfg.Notify, ungranted: cfg.Ungranted,
		logger: cfg.Logger, asks: make(chan *ask, min(cfg.Limits.Calls, maxIdleAsks)),
		manifest: &abi.Manifest{},
	}
}

// ended says why ctx, which is that of a call, has ended.
func (h *guestHost) ended(ctx context.Context) *abi.Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return h.tookTooLong()
	}
	return abi.Errorf(abi.CodeCancelled, "cancelled")
}

func (h *guestHost) tookTooLong() *abi.Error {
	return abi.Errorf(abi.CodeDeadline, "the provider took longer than %v", h.limits.Timeout)
}

func (h *guestHost) askedTooOften() *abi.Error {
	return abi.Errorf(abi.CodeHostCalls, "the provider called the host more than %d times", h.limits.HostCalls)
}

func (h *guestHost) tooDeep() *abi.Error {
	return abi.Errorf(abi.CodeStack, "the provider's calls are nested deeper than %d KiB of stack", h.limits.Stack>>10)
}

// busy says what is busy, and when to try again.
func (h *guestHost) busy(what string) *abi.Error {
	return abi.Busy(h.limits.Timeout, what)
}

// stateOf names the state that calls of a session share with others, so that they run one after the other. It is empty
// where calls share none.
func (h *guestHost) stateOf(session string) string {
	switch h.lifecycle {
	case abi.LifecycleShared:
		return "shared"
	case abi.LifecycleSession:
		return session
	}
	return ""
}
