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
	// CPU is for how long the call kept processors busy, about: the time that it took, without waits for clients and for other
	// systems. Limits.MilliCPU counts the same.
	CPU time.Duration
}

// A Start is what starting the first instance of a module used, which others are made from: its start function,
// initialisation, description if it was asked for, configuration and warming up.
type Start struct {
	Fuel uint64        `json:"fuel"` // the same for the same module and configuration
	Took time.Duration `json:"took"`
}
