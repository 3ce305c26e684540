package runtime

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
)

const (
	// openingEach is how much memory an opening takes for each byte of a module that was not opened before: 9 for a provider in Go.
	openingEach = 10
	// reserveTime bounds how long an opening or a compilation waits for memory.
	reserveTime = 10 * time.Second
)

// enterOpening waits until a module may be in memory: for one of HostConfig.MaxOpenings, then for memory of HostConfig.Live. leave is
// idempotent.
func (h *Host) enterOpening(ctx context.Context, file string) (leave func(), err error) {
	leaveSlot, err := h.openings.Enter(ctx, compiler.OwnerOf(ctx))
	if err != nil {
		return nil, fmt.Errorf("%s: wait while other providers are opened: %w", file, err)
	}
	release, err := h.reserveOpening(ctx, file)
	if err != nil {
		leaveSlot()
		return nil, fmt.Errorf("%s: wait for memory: %w", file, err)
	}
	return sync.OnceFunc(func() { release(); leaveSlot() }), nil
}

func (h *Host) reserveOpening(ctx context.Context, file string) (release func(), err error) {
	if h.live == nil || h.isolation != IsolateProcess { // without processes a module stays in memory, and is compiled while it is opened
		return func() {}, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return func() {}, nil // reading fails next, and says why
	}
	return h.reserve(ctx, openingEach*min(info.Size(), maxFile), false)
}

// reserver returns what reserves memory for compilations; nil where no processes are bounded. An owner cannot repeat one at will: the
// compiler remembers what was compiled, what was refused, and what the system has killed.
func (h *Host) reserver() func(ctx context.Context, bytes int64) (release func(), err error) {
	if h.live == nil {
		return nil
	}
	return func(ctx context.Context, bytes int64) (release func(), err error) { return h.reserve(ctx, bytes, true) }
}

// reserve waits for memory of HostConfig.Live for the owner of ctx, which workers give up that no call uses: see [live.Reservation].
func (h *Host) reserve(ctx context.Context, bytes int64, seldom bool) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	r := live.Reservation{Bytes: bytes, Seldom: seldom}
	if owner := compiler.OwnerOf(ctx); owner != "" {
		r.Owner = owner
	}
	return h.live.Reserve(ctx, r)
}
