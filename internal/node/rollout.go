package node

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// A version that was taken back is written down as often as this, with a wait that doubles up to maxWriteWait.
const (
	maxWrites    = 24 // within about 16 minutes
	minWriteWait = 100 * time.Millisecond
	maxWriteWait = time.Minute
)

// canaryFailed writes down that the host has taken a version back. Its clients are at the active version already; if nothing
// can be written, they stay there until the server ends.
func (n *Node) canaryFailed(id tenant.ProviderID, version int, reason string) {
	n.metrics.CanaryFailed()
	written, err := takeBack(n.ctx, n, id, version, reason)
	logger := n.cfg.Logger.With("tenant", id.Tenant, "provider", id.Provider, "version", version, "reason", reason)
	switch {
	case err != nil:
		logger.Error("a version that was taken back remains in its route: roll it back", "err", err)
	case written:
		logger.Warn("version failed and is out of its route")
	}
}

// A changer makes changes of what is served.
type changer interface {
	Snapshot() *tenant.Snapshot
	Apply(ctx context.Context, c tenant.Change) (generation uint64, err error)
}

// takeBack takes a canary out of its route and says why it failed. It does nothing if it is not there any more. What cannot be
// written now is tried again, until ctx ends.
func takeBack(ctx context.Context, n changer, id tenant.ProviderID, version int, reason string) (written bool, err error) {
	wait := minWriteWait
	for range maxWrites {
		s := n.Snapshot()
		c, isThere := withoutCanary(s, id, version, reason, time.Now())
		if !isThere {
			return false, nil
		}
		c.Base = s.Generation // what an operator decides meanwhile counts
		_, err = n.Apply(ctx, c)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, tenant.ErrConflict):
			continue
		case !errors.Is(err, tenant.ErrUnavailable):
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, errors.Join(err, ctx.Err())
		case <-time.After(wait):
			wait = min(2*wait, maxWriteWait)
		}
	}
	return false, err
}

// maxReason bounds the reason of a version, in bytes.
const maxReason = 1 << 10

// withoutCanary returns the change that ends a canary; false if a route does not have it.
func withoutCanary(s *tenant.Snapshot, id tenant.ProviderID, version int, reason string, now time.Time) (c tenant.Change, isThere bool) {
	route, v := s.Routes[id], s.VersionOf(id, version)
	if route == nil || v == nil || route.Canary != version {
		return c, false
	}
	next, failed := *route, *v
	next.Canary, next.Share, next.PromoteAfter, next.Changed, next.Changer = 0, 0, 0, now, rolloutActor
	failed.State, failed.Reason = tenant.StateFailed, strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	return tenant.Change{Actor: rolloutActor, SetRoutes: []*tenant.Route{&next}, SetVersions: []*tenant.Version{&failed}}, true
}

// rolloutActor is who takes a version back without an operator.
const rolloutActor = "rollout"
