package runtime

import (
	"context"

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
