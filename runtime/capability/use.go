package capability

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A Use is one use of a power, or an attempt: what an operator wants to know of it afterwards.
type Use struct {
	Power   string        // as manifests call it: "fs", "http", "sql", "kv"
	Subject string        // what it was about, as "GET https://example.org/x"; bounded, and without secrets
	Rule    string        // the part of the grant that allowed or refused it; empty when that is plain
	Code    abi.Code      // how it ended
	Bytes   uint64        // that the guest sent or got
	Elapsed time.Duration // as far as the guest had to wait
}

// An Observer is told of each use of a power when it has ended. It must not block.
type Observer func(ctx context.Context, use Use)

// Observe tells o of a use, if there is an observer.
func (o Observer) Observe(ctx context.Context, use Use) {
	if o != nil {
		o(ctx, use)
	}
}
