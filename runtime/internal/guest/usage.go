package guest

import (
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/limits"
)

// isExternal reports whether a service waits for other machines, as servers and databases, rather than for this one.
func isExternal(id abi.Service) bool {
	switch id {
	case abi.ServiceHTTP, abi.ServiceStream, abi.ServiceSQL, abi.ServiceSQLRows:
		return true
	}
	return false
}

// Worked adds work that the caller of the guest has done for it while the guest ran on: it is of the guest's share.
func (c *Call) Worked(d time.Duration) { c.hostTime += d }

// CPUTime is for how long the call has kept this machine busy: since it began, without the time of slow readers and of
// services elsewhere, and with the work that the host has done for it beside.
func (c *Call) CPUTime() time.Duration {
	return time.Since(c.bounds.Began()) - c.Waited() - c.externalTime + c.hostTime
}

// Usage gives what the call has used, given how it ended.
func (c *Call) Usage(err error) limits.Usage {
	used := c.used
	used.Op, used.Code, used.Bytes = c.Op, abi.CodeOf(err), c.bytes
	return used
}
