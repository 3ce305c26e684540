package legacy

import (
	"context"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
)

// leaseKey is the header by which a transport passes on the name of a lease, as paramsKey passes the parameters.
const leaseKey = "\x00lease"

// A lease counts the memory of the answers to one message, from the core until the transport has written them, and has
// the client that has sent it. In between is the SDK, which does neither. A nil lease counts nothing.
type lease struct {
	front  *Front
	name   string
	caller *auth.Caller // nil when it is unknown
	hold   *inflight.Hold
}

// lease makes a lease for a message of a client. The caller of lease calls end.
func (f *Front) lease(caller *auth.Caller) *lease {
	l := &lease{front: f, name: strconv.FormatUint(f.leased.Add(1), 36), caller: caller, hold: f.cfg.InFlight.Hold()}
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

// withLease returns the context of a call whose answer counts against the lease of its message, with the client.
func (f *Front) withLease(ctx context.Context, req sdk.Request) context.Context {
	l, ok := f.leaseOf(req)
	switch {
	case !ok:
		return ctx
	case l == nil:
		return inflight.With(ctx, f.ended)
	}
	return inflight.With(l.withCaller(ctx), l.hold)
}

// withCaller gives a context with the client that has sent a message.
func (f *Front) withCaller(ctx context.Context, req sdk.Request) context.Context {
	if l, _ := f.leaseOf(req); l != nil {
		return l.withCaller(ctx)
	}
	return ctx
}

func (l *lease) withCaller(ctx context.Context) context.Context {
	if l.caller == nil {
		return ctx
	}
	return auth.WithCaller(ctx, l.caller)
}

// leaseOf gives the lease of a message; nil if it has ended. It reports false for a message without one.
func (f *Front) leaseOf(req sdk.Request) (l *lease, ok bool) {
	extra := req.GetExtra()
	if extra == nil || len(extra.Header[leaseKey]) != 1 {
		return nil, false
	}
	if found, ok := f.leases.Load(extra.Header[leaseKey][0]); ok {
		return found.(*lease), true
	}
	return nil, true
}
