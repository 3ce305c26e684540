package limits

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// Usage is what one call used, as far as it came.
type Usage struct {
	Op        abi.Op
	Code      abi.Code // how it ended
	Fuel      uint64   // as in Limits.Fuel; the same for the same module and input
	HostCalls int
	Bytes     uint64 // of the bodies of all contents
	Memory    uint64 // of the guest when the call ended, in bytes; 0 if unknown
	// CPU is for how long the call kept processors busy, about: the time that it took, without waits for clients, for other systems
	// and for a process. Limits.MilliCPU counts the same. Of the first call after the start of a process, it has what that has used, too.
	CPU time.Duration
}

// A Start is what starting the first instance of a module used, which others are made from: its start function,
// initialisation, description if it was asked for, configuration and warming up.
type Start struct {
	Fuel uint64        `json:"fuel"` // the same for the same module and configuration
	Took time.Duration `json:"took"`
}
