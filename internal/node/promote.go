package node

import (
	"context"
	"errors"
	"time"

	"github.com/wasmres/wasmres/internal/deploy"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/rollout"
	"github.com/wasmres/wasmres/internal/tenant"
)

// promoteEach is how often the node looks for canaries that have served for long enough.
const promoteEach = time.Second

// promoteRipe promotes the canaries whose deployers have asked for that, once they are ripe, until ctx ends.
func (n *Node) promoteRipe(ctx context.Context) {
	tick := time.NewTicker(promoteEach)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for id, r := range n.Snapshot().Routes {
			if r.Canary == 0 || r.PromoteAfter == 0 {
				continue
			}
			if state, ok := n.host.Rollout(id); ok && isRipe(r, &state, time.Now()) {
				n.promote(ctx, r)
			}
		}
	}
}

// isRipe reports whether a canary has served for as long as its route says, since this server has given it clients, and has
// had enough calls to be taken back.
func isRipe(r *tenant.Route, state *host.Rollout, now time.Time) bool {
	return state.Version == r.Canary && state.Failed == "" && state.Problem == "" && state.Canary.Calls >= rollout.MinCalls &&
		now.Sub(state.Began) >= r.PromoteAfter
}

// errOther says that an operator has changed a route meanwhile.
var errOther = errors.New("the route has changed")

// promote makes the canary of a route the active version, unless the route has changed meanwhile.
func (n *Node) promote(ctx context.Context, seen *tenant.Route) {
	err := n.deployer.Promote(ctx, seen.ID(), seen.Canary, rolloutActor, func(r *tenant.Route) error {
		if r == nil || r.Canary != seen.Canary || r.PromoteAfter == 0 {
			return errOther
		}
		return nil
	})
	logger := n.cfg.Logger.With("tenant", seen.Tenant, "provider", seen.Provider, "version", seen.Canary)
	switch {
	case err == nil:
		logger.Info("version promoted after its time as the canary", "after", seen.PromoteAfter)
	case !errors.Is(err, errOther) && !errors.Is(err, deploy.ErrState) && ctx.Err() == nil:
		logger.Warn("canary not promoted, trying again", "err", err)
	}
}
