package runtime

import "github.com/wasmres/wasmres/abi"

// Usage is what one call used, as far as it came.
type Usage struct {
	Op        abi.Op
	Code      abi.Code // how it ended
	Fuel      uint64   // as in Limits.Fuel; the same for the same module and input
	HostCalls int
	Bytes     uint64 // of the bodies of all contents
}

// observe tells whoever wants to know about a call.
func (m *Module) observe(op abi.Op, c *call, err error) {
	if m.cfg.Observe != nil {
		m.cfg.Observe(Usage{Op: op, Code: abi.CodeOf(err), Fuel: c.fuel, HostCalls: c.asked, Bytes: c.bytes})
	}
}
