package guest

import (
	"context"
	"log/slog"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/limits"
)

// A Runner runs the guests of modules: in this process, as runtime.InProcess does, or in one of its own. Whatever a guest
// says goes through a [Call], which believes none of it, so that a runner need not be believed either.
type Runner interface {
	// Open gets a module ready: compiled, started, described, configured, warmed up. ctx bounds that. Errors are
	// classified by [abi.CodeOf].
	Open(ctx context.Context, o *Config) (Guests, error)
	// MaxCalls is how many calls of one module a runner can run at once. The caller lets no more of them in.
	MaxCalls() int
}

// A Config says whose guests are run, and how.
type Config struct {
	*module.Module
	Limits    limits.Limits // all filled
	Lifecycle abi.Lifecycle // the most that is granted
	Values    string        // JSON object; empty for none
	Services  []abi.Service // granted, sorted; those of notices aside
	Logger    *slog.Logger
	// Clock is what guests see in place of the real time and random numbers. Nil leaves them those.
	Clock *Clock
	// Learn takes what the guest says of itself, once that is known and before its configuration is due. It refuses what
	// makes no sense. It is not to be called where the manifest is packed in.
	Learn func(*abi.Manifest) error

	Host *Host // of the calls
}

// Packed reports whether the manifest is part of the module, so that the guest is not asked for it.
func (o *Config) Packed() bool { return o.Manifest != nil }

// StartCall makes the call that starting counts as, in which a guest may ask for services and log, but answer nothing.
// It also has a budget for what is logged between calls.
func (o *Config) StartCall() *Call { return o.Host.NewCall(abi.OpConfigure, &abi.Request{}, nil) }

// Guests are those of one module. They are safe for concurrent use.
type Guests interface {
	// Call has a guest do c, which is told all that the guest says. An error is classified by [abi.CodeOf]; ctx bounds
	// the call. Calls that share a state come one after another.
	Call(ctx context.Context, c *Call) error
	// Settle does what could wait until the answer to a call was written.
	Settle()
	// EndSession forgets what the calls of a session have left.
	EndSession(session string)
	// ResetMode says how each call gets an instance like the image, and why not in a quicker way.
	ResetMode() (lane ResetMode, why string)
	// Started says what the first of them used to start.
	Started() limits.Start
	// Close releases them. No call is running or begins any more.
	Close() error
}
