package runtime

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/limits"
)

// What a provider may use, and what a call used.
type (
	Limits = limits.Limits
	Usage  = limits.Usage
	Start  = limits.Start
)

// observe tells whoever wants to know about a call.
func (m *Module) observe(ctx context.Context, c *Call, err error) {
	if m.cfg.Observe == nil {
		return
	}
	used := c.used
	used.Op, used.Code, used.Bytes = c.Op, abi.CodeOf(err), c.bytes
	m.cfg.Observe(ctx, used)
}

// waits reports whether a service waits for others, as for servers and databases, and takes no time of this machine.
func waits(id abi.Service) bool {
	switch id {
	case abi.ServiceHTTP, abi.ServiceStream, abi.ServiceSQL, abi.ServiceSQLRows:
		return true
	}
	return false
}

// Worked adds work that the caller of the guest has done for it while the guest ran on: it is of the guest's share.
func (c *Call) Worked(d time.Duration) { c.beside += d }

// busy is for how long the call has kept this machine busy, of the time since it began and beside it.
func (c *Call) busy(began time.Time) time.Duration {
	return time.Since(began) - c.Waited() - c.served + c.beside
}
