package runtime

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A Fault is a call that failed because of the provider. Its Request and what it points to must not be changed.
type Fault = provider.Fault

// A CallRecord has all by which a call came to its end.
type CallRecord = provider.CallRecord

// An Exchange is one call of a provider to a capability, with the answer.
type Exchange = guest.Exchange

// An Origin is where the time and the random numbers of one call begin, and where it is to be stopped.
type Origin = guest.Origin

// A Point is how much fuel and how many calls of the host a provider has used.
type Point = guest.Point

// A Replay is a recorded call that is to run again.
type Replay = provider.Replay

// Replay runs a recorded call again, past routes, caches and Options.Admit, and returns how it ended and what it has used. Its
// contents are discarded. The provider must have been opened with the Clock and the Limits of the record, and with
// capabilities that answer as they did. A call that ended at its deadline is stopped where it was; others may take a minute.
func (p *Provider) Replay(ctx context.Context, r *Replay) (*abi.Reply, Usage, error) {
	defer p.inner.AfterResponse()
	return p.inner.Replay(ctx, r)
}
