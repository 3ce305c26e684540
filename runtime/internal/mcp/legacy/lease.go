package legacy

import (
	"context"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/runtime/internal/inflight"
)

// leaseKey is where a transport hands along, as paramsKey does, by which name a lease is found.
const leaseKey = "\x00lease"

// A lease is the memory of the answers to one message, from when the core has made them until the transport has written
// them. The SDK, which carries them in between, knows nothing of it. A nil lease has no bound.
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

// end gives the memory back. It is idempotent.
func (l *lease) end() {
	if l == nil {
		return
	}
	l.front.leases.Delete(l.name)
	l.hold.End()
}

// withLease gives the context of a call whose answer takes its memory from the lease of the message it came in.
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
