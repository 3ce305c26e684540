package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/wasmres/wasmres/internal/blobs"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/tenant"
)

// A Push is a module for a provider. Either Body or Reference is set.
type Push struct {
	Provider  tenant.ProviderID
	Body      io.Reader // of the module
	Reference string    // in a registry, whose module the trust policy of the server accepts
	Policy    *policy.Policy
	Next      tenant.Next // what to do with the version once it is approved
	Actor     string      // who pushes
	Approver  string      // who approves it whatever it asks for; empty for no one
}

// Push stores a module as a version, and begins the work on it. The same module with the same policy is the same version: it is
// begun again if it was refused, and follows Next if it is approved.
//
// One version of a provider is under way at a time. While another one is, the error is [tenant.ErrConflict] and says which.
func (d *Deployer) Push(ctx context.Context, p Push) (*tenant.Version, error) {
	at, err := d.mayPush(d.cfg.Store.Snapshot(), &p)
	if err != nil {
		return nil, err
	}
	blob, err := d.ingest(ctx, &p, at.plan)
	if err != nil {
		return nil, err
	}
	defer blob.Release() // after the version names it
	var made *tenant.Version
	err = d.change(ctx, func(s *tenant.Snapshot) (*tenant.Change, error) {
		at, err := d.mayPush(s, &p)
		if err != nil {
			return nil, err
		}
		v, isNew, err := d.versionOf(s, at, &p, blob)
		if made = v; err != nil {
			return nil, err
		}
		c := &tenant.Change{Actor: p.Actor, SetVersions: []*tenant.Version{v}}
		if v.IsRunnable() && !isNew {
			c.SetRoutes = routesFor(s, v, p.Actor, d.cfg.Now())
		}
		return c, nil
	})
	if err != nil {
		return nil, err
	}
	d.cfg.Logger.Info("version pushed", attrs(made, "digest", made.Digest, "actor", p.Actor)...)
	if made.IsUnderWay() {
		d.start(made)
	}
	return made, nil
}

// mayPush refuses a push that the present state does not allow.
func (d *Deployer) mayPush(s *tenant.Snapshot, p *Push) (*place, error) {
	at, err := d.placeOf(s, p.Provider)
	if err != nil {
		return nil, err
	}
	own, all := 0, 0
	for id, versions := range s.Versions {
		for _, v := range versions {
			if !v.IsUnderWay() {
				continue
			}
			if all++; id.Tenant == p.Provider.Tenant {
				own++
			}
		}
	}
	if own >= maxTenant || all >= maxUnderWay {
		return nil, fmt.Errorf("%w versions under way, %d of this tenant: wait until they are tried", tenant.ErrTooMany, own)
	}
	if p.Policy != nil {
		return at, checkPolicy(at, p.Policy)
	}
	return at, nil
}

// ingest stores the module, within the plan. A reference gets the digest that its tag names.
func (d *Deployer) ingest(ctx context.Context, p *Push, plan *tenant.Plan) (*blobs.Blob, error) {
	most := int64(maxModule)
	if plan.Modules > 0 {
		most = min(most, plan.Modules)
	}
	if p.Reference == "" {
		return d.cfg.Blobs.Add(ctx, p.Body, most)
	}
	if d.cfg.Module == nil {
		return nil, fmt.Errorf("%w: this server gets no modules from registries: push the file", tenant.ErrInvalid)
	}
	m, err := d.cfg.Module(ctx, p.Reference)
	if err != nil {
		return nil, fmt.Errorf("%w: the module of %s was not got: %w", tenant.ErrInvalid, p.Reference, err)
	}
	if m.Release != nil {
		defer m.Release()
	}
	f, err := os.Open(m.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if m.From.Reference != "" {
		p.Reference = m.From.Reference
	}
	b, err := d.cfg.Blobs.Add(ctx, f, most)
	if err == nil && m.Digest != "" && b.Digest != m.Digest {
		b.Release()
		return nil, fmt.Errorf("the module of %s has the digest %s, and %s was verified: try again", p.Reference, b.Digest, m.Digest)
	}
	return b, err
}

// versionOf returns the version that a push makes, or the one that has this module already.
func (d *Deployer) versionOf(s *tenant.Snapshot, at *place, p *Push, blob *blobs.Blob) (v *tenant.Version, isNew bool, err error) {
	id := p.Provider
	for _, old := range s.Versions[id] {
		if old.Digest == blob.Digest && isSamePolicy(old, p.Policy) {
			v, err := again(old, p)
			return v, false, err
		}
	}
	for _, other := range s.Versions[id] {
		if other.IsUnderWay() {
			return nil, false, fmt.Errorf("%w: version %s of %s is under way since %s: wait for it, and push again",
				tenant.ErrConflict, other.Name(), other.Creator, other.Created.UTC().Format("15:04:05"))
		}
	}
	if err := checkStorage(s, id.Tenant, at.plan, blob); err != nil {
		return nil, false, err
	}
	v = &tenant.Version{
		Tenant: id.Tenant, Provider: id.Provider, Number: s.Numbers[id] + 1, Digest: blob.Digest, Size: blob.Size, Reference: p.Reference,
		Next: p.Next, Approver: p.Approver, State: tenant.StatePushed, Created: d.cfg.Now().UTC(), Creator: p.Actor,
	}
	if p.Policy != nil {
		v.Policy, v.HasPolicy = *p.Policy, true
	}
	return v, true, nil
}

// isSamePolicy reports whether a version was pushed with a policy, or without one if that is nil.
func isSamePolicy(v *tenant.Version, p *policy.Policy) bool {
	if p == nil || !v.HasPolicy {
		return p == nil && !v.HasPolicy
	}
	return bytes.Equal(v.Policy.Format(), p.Format())
}

// again is a version whose module is pushed again.
func again(old *tenant.Version, p *Push) (*tenant.Version, error) {
	v := *old
	v.Next = p.Next
	switch {
	case old.State == tenant.StateRejected:
		return nil, fmt.Errorf("%w: version %s has the same module, and %s has rejected it: %s", ErrState, old.Name(), old.Decider, old.Reason)
	case old.State == tenant.StateRefused:
		v.State, v.Reason, v.Manifest, v.Report, v.Approver = tenant.StatePushed, "", "", "", p.Approver
	case old.State == tenant.StateWaiting && p.Approver != "":
		v.State, v.Approver = tenant.StateTried, p.Approver
	case old.IsUnderWay() && p.Approver != "":
		v.Approver = p.Approver
	}
	return &v, nil
}

// checkStorage refuses a module for which the plan has no room.
func checkStorage(s *tenant.Snapshot, tenantID string, plan *tenant.Plan, blob *blobs.Blob) error {
	most := plan.Modules
	if most == 0 {
		most = tenant.DefaultModules
	}
	sizes := s.ModulesOf(tenantID)
	sizes[blob.Digest] = blob.Size
	var sum int64
	for _, size := range sizes {
		sum += size
	}
	if sum > most {
		return fmt.Errorf("%w: with this one of %s they have %s, and storage.modules of the plan %s is %s: choose another plan, or wait until old versions are removed",
			ErrStorage, policy.FormatSize(uint64(blob.Size)), policy.FormatSize(uint64(sum)), plan.Name, policy.FormatSize(uint64(most)))
	}
	return nil
}

// IsTooLarge reports whether a push was refused because of its size.
func IsTooLarge(err error) bool {
	return errors.Is(err, blobs.ErrTooLarge) || errors.Is(err, ErrStorage)
}
