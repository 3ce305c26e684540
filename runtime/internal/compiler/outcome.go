package compiler

import (
	"errors"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// An outcome is what became of a module. It is worth remembering: the same module under the same limits would fare the
// same.
type outcome struct {
	// Fingerprint is that of the engine, without which the rest means nothing.
	Fingerprint string `json:"fingerprint"`

	// File is the compiled module in the cache folder, and Size its length in bytes; empty for a refusal.
	File string `json:"file,omitempty"`
	Size int64  `json:"size,omitempty"`

	// Refused is why the module is not compiled; empty when it is.
	Refused reason `json:"refused,omitempty"`
	// Limit is what the module ran into: nanoseconds or bytes, as the reason has it.
	Limit int64 `json:"limit,omitempty"`
	// Detail is what the engine says, for the log.
	Detail string `json:"detail,omitempty"`
}

// A reason is why a module is refused.
type reason string

const (
	reasonInvalid reason = "invalid" // not a module the engine accepts
	reasonCrash   reason = "crash"   // the engine panicked
	reasonTime    reason = "time"
	reasonCPU     reason = "cpu"
	reasonMemory  reason = "memory"
	reasonOutput  reason = "output" // more native code than a file may have
)

// limit is what a reason means in this configuration; zero where there is none.
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

// refuse makes the outcome of a module that ran into a limit of cfg, or into the engine's own opinion.
func refuse(r reason, cfg *Config, detail string) outcome {
	return outcome{Refused: r, Limit: cfg.limit(r), Detail: detail}
}

// stillApplies reports whether a refusal still stands: a limit raised since is worth another try.
func (o outcome) stillApplies(cfg *Config) bool {
	switch o.Refused {
	case reasonInvalid, reasonCrash:
		return true
	case reasonTime, reasonCPU, reasonMemory, reasonOutput:
		return o.Limit >= cfg.limit(o.Refused)
	}
	return false
}

// err is what callers are told. Each gets an error of its own.
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
