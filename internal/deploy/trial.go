package deploy

import (
	"context"
	"errors"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// Bounds of a trial.
const (
	trialTime    = 20 * time.Second
	trialSamples = 3 // resources of the list, and of each template; those of the manifest are read all
)

// optionsOf are those of the runtime under which a version serves, as far as the shape of a module depends on them.
func (d *Deployer) optionsOf(at *place, v *tenant.Version) *runtime.Options {
	own := v.Policy.Limits
	if !v.HasPolicy && v.Manifest == "" {
		own = at.provider.Policy.Limits
	}
	engine, _ := at.plan.Engines(at.provider)
	return &runtime.Options{Engine: engine, Limits: at.plan.LimitsOf(own), Share: d.shareOf(v)}
}

// shareOf returns what pays for a version; nil for nothing.
func (d *Deployer) shareOf(v *tenant.Version) *runtime.Share {
	if d.cfg.Share == nil {
		return nil
	}
	return d.cfg.Share(v.Tenant)
}

// grantedFor returns the policy of the trial: what is approved in advance, or configuration and limits alone.
func grantedFor(at *place, b string, v *tenant.Version) (p policy.Policy, all bool) {
	asked, known := &v.Policy, v.HasPolicy
	if !known {
		if info, err := runtime.InspectFile(b); err == nil && info.Manifest != nil {
			p, err := policyFor(at, v, info.Manifest)
			asked, known = p, err == nil
		}
	}
	if known && (asked.Empty() || approvedBy(at, asked) != "") {
		return *asked, true
	}
	p = policy.Policy{Config: at.provider.Policy.Config, Limits: at.provider.Policy.Limits}
	if known {
		p.Config, p.Limits = asked.Config, asked.Limits
	}
	return p, false
}

// try starts the guest, and asks what a client could.
func (d *Deployer) try(ctx context.Context, at *place, v *tenant.Version) (func(*tenant.Version) error, error) {
	b, err := d.open(v)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	live, err := runtime.NewLive(runtime.LiveConfig{Max: 1})
	if err != nil {
		return nil, err
	}
	meter := d.cfg.Meter(v.ID(), v.Number, live)
	defer meter.Close()
	granted, all := grantedFor(at, b.File, v)
	engine, _ := at.plan.Engines(at.provider)
	a, err := app.Open(ctx, app.Config{
		Engine: engine,
		File:   b.File, Digest: v.Digest, From: approval.Published{Repository: "wasmres-provider:" + v.Provider}, Name: v.Provider, Prefixes: at.provider.Prefixes,
		HidePrincipal: true, Share: d.shareOf(v), Grants: granted, Limits: at.plan.LimitsOf(granted.Limits), Host: d.cfg.Runtime, Live: live, DataDir: d.dataDir(v.Tenant),
		Denied: func(app.Denial) {}, Used: meter.Used, Version: d.cfg.Version,
		Logger: d.cfg.Logger.With(attrs(v)...),
	})
	if err != nil {
		return nil, refuseIf(startText(all), err)
	}
	m := a.Provider().Manifest()
	report, err := check.Run(ctx, check.Config{Source: a.Source(), Manifest: m, Samples: trialSamples, MaxTime: trialTime})
	if err = errors.Join(err, a.Close()); err != nil {
		return nil, err
	}
	p, err := policyFor(at, v, m)
	refused := refusedBy(report, all || p != nil && p.Empty())
	if err == nil && len(refused) > 0 {
		err = errors.New("the trial found " + findingsOf(refused))
	}
	return func(next *tenant.Version) error {
		next.Manifest, next.Report = textOf(manifestOf(m)), textOf(report)
		if next.State = tenant.StateTried; err != nil {
			next.State, next.Reason, next.Decided, next.Decider = tenant.StateRefused, reasonOf(err.Error()), d.cfg.Now().UTC(), "server"
			return nil
		}
		next.Policy = *p
		return nil
	}, nil
}

// removeImagesIfOff removes the images of a tenant that was removed or disabled: the server has done so when that became known, and a trial
// may have begun or ended later.
func (d *Deployer) removeImagesIfOff(tenantID string) {
	if t := d.cfg.Store.Snapshot().Tenants[tenantID]; t != nil && !t.Disabled {
		return
	}
	if err := d.cfg.Runtime.RemoveImages(tenantID); err != nil {
		d.cfg.Logger.Warn("images of a tenant not removed", "tenant", tenantID, "err", err)
	}
}

func startText(all bool) string {
	if all {
		return "the provider does not start"
	}
	return "the provider does not start, with no capability granted before it is approved"
}

// refusedBy returns the findings that refuse a version: errors, if the trial had all capabilities that the version asks for.
// Without them only what no capability could change is one.
func refusedBy(r *check.Report, all bool) (found []check.Finding) {
	for _, f := range r.Findings {
		if f.Severity == check.Error && !isOfServer(f) && (all || f.Rule == ruleManifest) {
			found = append(found, f)
		}
	}
	return found
}

// Names of rules of package check.
const (
	ruleManifest   = "manifest"
	ruleUnfinished = "unfinished"
)

// isOfServer reports whether a finding may be due to a server that is busy.
func isOfServer(f check.Finding) bool {
	return f.Rule == ruleUnfinished || f.Code == abi.CodeBusy.String() || f.Code == abi.CodeUnavailable.String() || f.Code == abi.CodeCancelled.String()
}
