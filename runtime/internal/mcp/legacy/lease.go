package legacy

import (
	"context"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/runtime/internal/inflight"
)

// leaseKey is the header by which a transport passes on the name of a lease, as paramsKey passes the parameters.
const leaseKey = "\x00lease"

// A lease counts the memory of the answers to one message, from the core until the transport has written them. In
// between is the SDK, which does not count. A nil lease counts nothing.
type lease struct {
	front *Front
	name  string
	hold  *inflight.Hold
}

// lease makes a lease. The caller calls end.
func (f *Front) lease() *lease {
	l := &lease{front: f, name: strconv.FormatUint(f.leased.Add(1), 36), hold: f.cfg.InFlight.Hold()}
	f.leases.Store(l.name, l)
	return l
}

// end releases the memory. It is idempotent.
func (l *lease) end() {
	if l == nil {
		return
	}
	l.front.leases.Delete(l.name)
	l.hold.End()
}

// withLease returns the context of a call whose answer counts against the lease of its message.
func (f *Front) withLease(ctx context.Context, req sdk.Request) context.Context {
	extra := req.GetExtra()
	if extra == nil || len(extra.Header[leaseKey]) != 1 {
		return ctx
	}
	hold := f.ended
	if l, ok := f.leases.Load(extra.Header[leaseKey][0]); ok {
		hold = l.(*lease).hold
	}
	return inflight.With(ctx, hold)
}
