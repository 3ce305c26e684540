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

// Idled adds time for which the call has waited for its guest: it is no work.
func (c *Call) Idled(d time.Duration) { c.externalTime += d }

// Started adds processor time of starts of the guest's worker, for which the owner of the call pays. It is not part of CPUTime: the call
// has not used it in its turn.
func (c *Call) Started(d time.Duration) { c.startTime += d }

// CPUTime returns how long the call has kept this machine busy: the time since it began, without that of slow readers,
// of external services and of waiting for a worker and a processor, plus the host's work beside the guest.
func (c *Call) CPUTime() time.Duration {
	return time.Since(c.bounds.Began()) - c.Blocked() - c.externalTime + c.hostTime
}

// CPU returns for how much processor time the owner of the call pays: CPUTime, and that of starts.
func (c *Call) CPU() time.Duration { return max(c.CPUTime(), 0) + c.startTime }

// Usage returns what the call has used but for processor time, given how it ended.
func (c *Call) Usage(err error) limits.Usage {
	used := c.used
	used.Op, used.Code, used.Bytes = c.Op, abi.CodeOf(err), c.bytes
	return used
}
