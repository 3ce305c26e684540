package guest

import (
	"context"
	"log/slog"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/limits"
)

// A Runner runs the guests of modules: in this process, as pool.InProcess does, or in another one. All data from a guest goes
// through a [Call], which checks it, so that the caller need not trust the runner.
type Runner interface {
	// Open prepares a module: it compiles, starts, describes, configures and warms it up, until ctx ends. Errors
	// have a code, see [abi.CodeOf].
	Open(ctx context.Context, o *Config) (Guests, error)
	// MaxCalls returns how many calls of one module the runner can run at once. The caller begins no more.
	MaxCalls() int
}

// A Config says which module a runner opens, and with which limits.
type Config struct {
	*module.Module
	Limits    limits.Limits // all filled
	Lifecycle abi.Lifecycle // the longest life of guest state that is granted
	Values    string        // JSON object; empty for none
	Services  []abi.Service // granted, sorted, without those of notices
	Logger    *slog.Logger
	// Clock replaces the real time and random numbers; nil for the real ones.
	Clock *Clock
	// OnManifest is called with the guest's manifest, before the guest is configured. It returns an error for a manifest that
	// makes no sense. It is not called if the module has a packed manifest.
	OnManifest func(*abi.Manifest) error

	Host *Host // of the calls
}

// Packed reports whether the module contains its manifest, so that the runner need not ask the guest for it.
func (o *Config) Packed() bool { return o.Manifest != nil }

// StartCall makes the call for starting an instance. In it a guest may call services and log, but not answer. It also has
// the budget for log lines between calls.
func (o *Config) StartCall() *Call { return o.Host.NewCall(abi.OpConfigure, &abi.Request{}, nil) }

// Guests runs the calls of one module. It is safe for concurrent use.
type Guests interface {
	// Call runs c in a guest, and passes all data from the guest to c. The call ends with ctx. An error has a code, see
	// [abi.CodeOf]. Calls that share state run one after another.
	Call(ctx context.Context, c *Call) error
	// Settle does what could wait until the answer to a call was written.
	Settle()
	// EndSession discards the state of a session.
	EndSession(session string)
	// ResetMode returns how instances are reset, and why not in a quicker mode.
	ResetMode() (lane ResetMode, why string)
	// Started returns what the first instance used to start.
	Started() limits.Start
	// Close releases all instances. The caller has no call running, and begins none after that.
	Close() error
}
