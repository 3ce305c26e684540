package compiler

import (
	"errors"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// An outcome is the result of compiling a module. It is stored, since the same module under the same limits has the
// same result.
type outcome struct {
	// Fingerprint is that of the engine. The outcome is valid for this engine only.
	Fingerprint string `json:"fingerprint"`

	// File is the compiled module in the cache directory, and Size its length in bytes; empty for a refusal.
	File string `json:"file,omitempty"`
	Size int64  `json:"size,omitempty"`

	// Refused is the reason for a refusal; empty when the module is compiled.
	Refused reason `json:"refused,omitempty"`
	// Limit is the limit that was exceeded, in nanoseconds or bytes, depending on the reason.
	Limit int64 `json:"limit,omitempty"`
	// Detail is the engine's message, for the log.
	Detail string `json:"detail,omitempty"`
}

// A reason is one for refusing a module.
type reason string

const (
	reasonInvalid reason = "invalid" // the engine refuses the module
	reasonCrash   reason = "crash"   // the engine panicked
	reasonTime    reason = "time"
	reasonCPU     reason = "cpu"
	reasonMemory  reason = "memory"
	reasonOutput  reason = "output" // native code of more than maxOutput bytes
)

// limit returns the configured limit for a reason; zero if it has none.
func (cfg *Config) limit(r reason) int64 {
	switch r {
	case reasonTime:
		return int64(cfg.Timeout)
	case reasonCPU:
		return int64(cfg.CPU)
	case reasonMemory:
		return int64(cfg.Memory)
	case reasonOutput:
		return maxOutput
	}
	return 0
}

// refuse makes the outcome of a refused module.
func refuse(r reason, cfg *Config, detail string) outcome {
	return outcome{Refused: r, Limit: cfg.limit(r), Detail: detail}
}

// stillApplies reports whether a refusal is still valid: the limit has not been raised since.
func (o outcome) stillApplies(cfg *Config) bool {
	switch o.Refused {
	case reasonInvalid, reasonCrash:
		return true
	case reasonTime, reasonCPU, reasonMemory, reasonOutput:
		return o.Limit >= cfg.limit(o.Refused)
	}
	return false
}

// err returns the error for callers. Each caller gets its own.
func (o outcome) err() error {
	var e *abi.Error
	switch o.Refused {
	case "":
		return nil
	case reasonTime:
		e = abi.Errorf(abi.CodeModule, "compiling the module took longer than %v", time.Duration(o.Limit))
	case reasonCPU:
		e = abi.Errorf(abi.CodeModule, "compiling the module took more than %v of processor time", time.Duration(o.Limit))
	case reasonMemory:
		e = abi.Errorf(abi.CodeModule, "compiling the module took more than %d MiB of memory", o.Limit>>20)
	case reasonOutput:
		e = abi.Errorf(abi.CodeModule, "the module compiles to more than %d MiB", o.Limit>>20)
	case reasonCrash:
		e = abi.Errorf(abi.CodeModule, "the module crashes the compiler")
	default:
		e = abi.Errorf(abi.CodeModule, "not a WebAssembly module this engine accepts")
	}
	if o.Detail != "" {
		_ = e.Because(errors.New(o.Detail))
	}
	return e
}
