package capability

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A Use is one call of a guest to a capability, allowed or refused, as the operator's log records it.
type Use struct {
	Capability string        // as manifests call it: "fs", "http", "sql", "kv"
	Subject    string        // the object, as "GET https://example.org/x"; bounded, and without secrets
	Rule       string        // the part of the grant that allowed or refused it; empty when there is only one
	Code       abi.Code      // the outcome
	Bytes      uint64        // that the guest sent or got
	Elapsed    time.Duration // for which the guest waited
}

// An Observer receives each use of a capability when it has ended, with the context of the guest's call. Many goroutines
// call it at once. It must not block.
type Observer func(ctx context.Context, use Use)

// Observe calls o, unless it is nil.
func (o Observer) Observe(ctx context.Context, use Use) {
	if o != nil {
		o(ctx, use)
	}
}
