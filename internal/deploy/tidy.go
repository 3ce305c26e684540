package deploy

import (
	"cmp"
	"context"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// When a version is removed: after so many newer ones, or so long after it served last.
const (
	keepNewer = 10
	keepTime  = 30 * 24 * time.Hour
	tidyEach  = time.Hour
)

// wantTidy asks for the removal of what is no longer kept.
func (d *Deployer) wantTidy() {
	select {
	case d.tidied <- struct{}{}:
	default:
	}
}

// tidy removes what is no longer kept, until the Deployer is closed.
func (d *Deployer) tidy() {
	tick := time.NewTicker(tidyEach)
	defer tick.Stop()
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-tick.C:
		case <-d.tidied:
		}
		if err := d.Tidy(d.ctx); err != nil && d.ctx.Err() == nil {
			d.cfg.Logger.Warn("old versions not removed", "err", err)
		}
	}
}

// Tidy removes the versions that are no longer kept, and the modules that no version names.
func (d *Deployer) Tidy(ctx context.Context) error {
	err := d.change(ctx, func(s *tenant.Snapshot) (*tenant.Change, error) {
		c := &tenant.Change{Actor: "deploy"}
		for id, all := range s.Versions {
			c.RemoveVersions = append(c.RemoveVersions, old(all, s.Routes[id], d.cfg.Now())...)
		}
		if len(c.RemoveVersions) == 0 {
			return nil, nil
		}
		d.cfg.Logger.Info("old versions removed", "versions", len(c.RemoveVersions))
		return c, nil
	})
	if err != nil {
		return err
	}
	removed, err := d.cfg.Blobs.Keep(func() map[string]bool {
		named := map[string]bool{}
		for _, all := range d.cfg.Store.Snapshot().Versions {
			for _, v := range all {
				named[v.Digest] = true
			}
		}
		return named
	})
	if removed > 0 {
		d.cfg.Logger.Info("modules removed that no version has", "modules", removed)
	}
	return err
}

// old returns those of a provider's versions, sorted by number, that are no longer kept.
func old(all []*tenant.Version, r *tenant.Route, now time.Time) (remove []*tenant.Version) {
	for i, v := range all {
		since := v.Replaced
		if since.IsZero() {
			since = cmpTime(v.Decided, v.Created)
		}
		isOld := len(all)-1-i >= keepNewer || now.Sub(since) > keepTime
		if isOld && !v.IsUnderWay() && (r == nil || !r.Has(v.Number)) {
			remove = append(remove, v)
		}
	}
	return remove
}

// cmpTime returns the first time that is set.
func cmpTime(times ...time.Time) time.Time { return cmp.Or(times...) }
