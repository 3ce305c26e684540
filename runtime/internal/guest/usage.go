package guest

import (
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/limits"
)

// isExternal reports whether a service waits for other systems, as servers and databases.
func isExternal(id abi.Service) bool {
	switch id {
	case abi.ServiceHTTP, abi.ServiceStream, abi.ServiceSQL, abi.ServiceSQLRows:
		return true
	}
	return false
}

// Worked adds work of the host for the guest while the guest ran: it counts as the guest's.
func (c *Call) Worked(d time.Duration) { c.hostTime += d }

// CPUTime returns how long the call has kept this machine busy: the time since it began, without that of slow readers
// and external services, plus the host's work beside the guest.
func (c *Call) CPUTime() time.Duration {
	return time.Since(c.bounds.Began()) - c.Blocked() - c.externalTime + c.hostTime
}

// Usage returns what the call has used, given how it ended.
func (c *Call) Usage(err error) limits.Usage {
	used := c.used
	used.Op, used.Code, used.Bytes = c.Op, abi.CodeOf(err), c.bytes
	return used
}
