package guest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/fair"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
	"github.com/wasmres/wasmres/runtime/limits"
)

// Config says what the guests of one module may do. Module, Limits and Logger are required.
type Config struct {
	Module       *module.Module
	Limits       limits.Limits       // all filled
	Services     capability.Services // granted, without those of notices; not to be changed
	MaxLifecycle abi.Lifecycle       // the longest life of guest state that is granted
	Values       string              // the configuration, as a JSON object; empty for none
	ExposeErrors bool                // clients get the first line of an ordinary error of the guest
	Clock        *Clock              // replaces the real time and random numbers; nil for the real ones
	Records      bool                // calls are recorded: sleeping takes its time, although there is a Clock
	Tapes        bool                // calls have a [Tape], also without Records, under a fixed Clock
	Lazy         bool                // a worker starts with the first call, if the module contains its manifest
	Live         *live.Group         // bounds the workers of this module and others; nil for none; unused without workers
	// Notify receives the guest's notices: the URI of a changed resource, or the empty string when the list has
	// changed. ctx is that of the call that gave notice. It must not block. Nil discards them.
	Notify func(ctx context.Context, uri string)
	// Share is what pays for the processor time of calls, and makes them wait for processors; nil for none.
	Share *fair.Share
	// OnUngranted receives the first request to each service that is absent from Services, once in each call of the guest.
	// It must not block. Nil discards.
	OnUngranted func(ctx context.Context, id abi.Service, request []byte)
	// OnRelease is called when code and data of the module are let go, while it is opened. Nil calls nothing.
	OnRelease func()
	Logger    *slog.Logger
}

// A Host has the state that the calls of one module share: the grants of its guests, their manifest, and their
// services. It does not know where the guests run. It is safe for concurrent use once the manifest is set.
type Host struct {
	Config // fixed at creation, but for Module: see ReleaseModule

	// fixed at creation
	granted map[abi.Service]*grantedService
	asks    chan *ask // that wait for a call

	// fixed once the manifest is set
	manifest  *abi.Manifest // not nil
	lifecycle abi.Lifecycle // in force
}

// NewHost makes a host. It sets the manifest if the module contains it; otherwise the runner must ask the guest. The
// caller closes the host.
func NewHost(cfg Config) (*Host, error) {
	h := &Host{
		Config: cfg, granted: grantedServices(cfg.Services), asks: make(chan *ask, min(cfg.Limits.Calls, maxIdleAsks)),
		manifest: &abi.Manifest{},
	}
	if !h.Packed() {
		return h, nil
	}
	manifest, err := abi.DecodeManifest(cfg.Module.Manifest)
	if err != nil {
		return nil, err
	}
	return h, h.SetManifest(manifest)
}

// ReleaseModule lets go of code and data of the module, if they can be loaded again. The runner calls it while it opens the
// module, if at all.
func (h *Host) ReleaseModule() {
	h.Module = h.Module.Light()
	if h.OnRelease != nil && h.Module.IsLight() {
		h.OnRelease()
	}
}

// Packed reports whether the module contains its manifest.
func (h *Host) Packed() bool { return h.Module.Manifest != nil }

// Close ends the goroutines for service calls. No call may run or begin any more.
func (h *Host) Close() { h.endAsks() }

// SetManifest checks the guest's manifest, and applies it to later calls. It is called once, before the guest is
// configured.
func (h *Host) SetManifest(manifest *abi.Manifest) error {
	if err := manifest.Check(); err != nil {
		return err
	}
	for i := range manifest.Resources {
		if err := checkPrefix(manifest, manifest.Resources[i].URI); err != nil {
			return fmt.Errorf("manifest: resource %d: %w", i, err)
		}
	}
	h.manifest = manifest
	h.lifecycle = h.grantLifecycle()
	return nil
}

// grantLifecycle returns the requested lifecycle, as far as it is granted.
func (h *Host) grantLifecycle() abi.Lifecycle {
	requested := h.manifest.Limits.Lifecycle
	switch {
	case requested == abi.LifecycleFresh || requested > abi.LifecycleShared:
		return abi.LifecycleFresh
	case requested > h.MaxLifecycle:
		h.Logger.Warn("every request gets a fresh instance: the lifecycle the provider asks for is not granted",
			"asked", requested.String(), "granted", h.MaxLifecycle.String())
		return abi.LifecycleFresh
	}
	return requested
}

// Manifest returns the manifest, which must not be changed; it is empty before SetManifest.
func (h *Host) Manifest() *abi.Manifest { return h.manifest }

// Lifecycle returns the lifecycle in force: the requested one, as far as it is granted.
func (h *Host) Lifecycle() abi.Lifecycle { return h.lifecycle }

// ContextError returns the error for ctx, the context of a call, which has ended.
func (h *Host) ContextError(ctx context.Context) *abi.Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return h.DeadlineError()
	}
	return abi.Errorf(abi.CodeCancelled, "cancelled")
}

// DeadlineError returns the error of a call that exceeds its time limit.
func (h *Host) DeadlineError() *abi.Error {
	return abi.Errorf(abi.CodeDeadline, "the provider took longer than %v", h.Limits.Timeout)
}

// HostCallsError returns the error of a guest that called the host too often.
func (h *Host) HostCallsError() *abi.Error {
	return abi.Errorf(abi.CodeHostCalls, "the provider called the host more than %d times", h.Limits.HostCalls)
}

// StackError returns the error of a guest whose calls are nested too deeply.
func (h *Host) StackError() *abi.Error {
	return abi.Errorf(abi.CodeStack, "the provider's calls are nested deeper than %d KiB of stack", h.Limits.Stack>>10)
}

// BusyError returns an error that says what is busy, with the time to retry after.
func (h *Host) BusyError(what string) *abi.Error {
	return abi.Busy(h.Limits.Timeout, what)
}

// StateKey returns the name of the state that a session's calls share, so that they run one after the other. It is
// empty if they share none.
func (h *Host) StateKey(session string) string {
	switch h.lifecycle {
	case abi.LifecycleShared:
		return "shared"
	case abi.LifecycleSession:
		return session
	}
	return ""
}
