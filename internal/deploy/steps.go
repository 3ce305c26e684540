package deploy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/blobs"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/faultpoint"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

const (
	stepTime  = 5 * time.Minute
	firstWait = time.Second // before a step is tried again; the next one is four times as long
	maxReason = 4 << 10     // bytes
)

// advance brings a version as far as the server alone can, or until the Deployer is closed.
func (d *Deployer) advance(id tenant.ProviderID, number int) {
	leave, err := d.line.Enter(d.ctx, id.Tenant)
	if err != nil {
		return
	}
	defer leave()
	wait := firstWait
	for tries := 0; d.ctx.Err() == nil; {
		v := d.cfg.Store.Snapshot().VersionOf(id, number)
		if v == nil || !v.IsUnderWay() {
			break
		}
		err := d.step(v)
		switch {
		case err == nil:
			tries, wait = 0, firstWait
			continue
		case d.ctx.Err() != nil:
			return
		case errors.Is(err, tenant.ErrUnavailable): // the disk is full: the operator has to act, and nothing can be written
		default:
			tries++
		}
		d.cfg.Logger.Warn("step of a version failed, trying again", attrs(v, "wait", wait, "err", err)...)
		if tries == maxTries {
			if d.refuse(v, fmt.Errorf("the server could not try it: %w: push it again", err)) == nil {
				break
			}
			tries--
		}
		select {
		case <-d.ctx.Done():
			return
		case <-time.After(wait):
			wait = min(4*wait, time.Minute)
		}
	}
	d.wantTidy()
}

// A refusal is an error because of which a version never runs.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// step does the next step of a version. An error says that it may be done again.
func (d *Deployer) step(v *tenant.Version) error {
	ctx, cancel := context.WithTimeout(runtime.WithOwner(d.ctx, v.Tenant), stepTime)
	defer cancel()
	at, err := d.placeOf(d.cfg.Store.Snapshot(), v.ID())
	if err != nil {
		return d.refuse(v, err) // the provider was removed, or has got a module
	}
	faultpoint.Reach("step of version " + string(v.State))
	var done func(*tenant.Version) error
	switch v.State {
	case tenant.StatePushed:
		done, err = d.admit(ctx, at, v)
	case tenant.StateAdmitted:
		done, err = d.compile(ctx, at, v)
	case tenant.StateCompiled:
		done, err = d.try(ctx, at, v)
		d.removeImagesIfOff(v.Tenant)
	default:
		return d.decide(v)
	}
	var refused *refusal
	if errors.As(err, &refused) {
		return d.refuse(v, refused.err)
	}
	if err != nil {
		return err
	}
	faultpoint.Reach("step done of version " + string(v.State))
	return d.set(v, done)
}

// set changes a version, if it is still in the state that the caller has seen.
func (d *Deployer) set(seen *tenant.Version, do func(*tenant.Version) error) error {
	return d.change(d.ctx, func(s *tenant.Snapshot) (*tenant.Change, error) {
		v := s.VersionOf(seen.ID(), seen.Number)
		if v == nil || v.State != seen.State {
			return nil, nil
		}
		next := *v
		if err := do(&next); err != nil {
			return nil, err
		}
		d.cfg.Logger.Info("version advanced", attrs(&next, "reason", next.Reason)...)
		return &tenant.Change{Actor: "deploy", SetVersions: []*tenant.Version{&next}}, nil
	})
}

// refuse makes a version one that never runs.
func (d *Deployer) refuse(v *tenant.Version, why error) error {
	return d.set(v, func(next *tenant.Version) error {
		next.State, next.Reason, next.Decided, next.Decider = tenant.StateRefused, reasonOf(why.Error()), d.cfg.Now().UTC(), "server"
		return nil
	})
}

// reasonOf is a text, perhaps of a guest, that the store can have and a terminal can show.
func reasonOf(text string) string { return printable.Line(text[:min(len(text), maxReason)]) }

// isFaulty reports whether an error is the module's, and the same each time.
func isFaulty(err error) bool {
	switch abi.CodeOf(err) {
	case abi.CodeUnavailable, abi.CodeBusy, abi.CodeCancelled:
		return false
	}
	var e *abi.Error
	return errors.As(err, &e)
}

// refuseIf makes an error of the module a refusal.
func refuseIf(what string, err error) error {
	err = fmt.Errorf("%s: %w", what, err)
	if isFaulty(err) {
		return &refusal{err}
	}
	return err
}

// open gets the module of a version. One that is missing or damaged refuses the version: it can be pushed again.
func (d *Deployer) open(v *tenant.Version) (*blobs.Blob, error) {
	b, err := d.cfg.Blobs.Open(v.Digest)
	var damaged *blobs.DamagedError
	if errors.Is(err, blobs.ErrNotFound) || errors.As(err, &damaged) {
		return nil, &refusal{err}
	}
	return b, err
}

// admit checks the module by itself, and what was named for it.
func (d *Deployer) admit(ctx context.Context, at *place, v *tenant.Version) (func(*tenant.Version) error, error) {
	b, err := d.open(v)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	p, err := d.cfg.Runtime.Prepare(ctx, b.File, d.optionsOf(at, v))
	if err != nil {
		return nil, refuseIf("the module is not admitted", err)
	}
	if v.HasPolicy {
		if err := checkPolicy(at, &v.Policy); err != nil {
			return nil, &refusal{err}
		}
	}
	return func(next *tenant.Version) error {
		next.State, next.Metered = tenant.StateAdmitted, p.Code
		return nil
	}, nil
}

// compile puts the native code into the cache.
func (d *Deployer) compile(ctx context.Context, at *place, v *tenant.Version) (func(*tenant.Version) error, error) {
	b, err := d.open(v)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	p, err := d.cfg.Runtime.Prepare(ctx, b.File, d.optionsOf(at, v))
	began := time.Now()
	if err == nil {
		err = p.Compile(ctx)
	}
	took := time.Since(began)
	if err != nil {
		return nil, refuseIf("the module does not compile", err)
	}
	return func(next *tenant.Version) error {
		next.State, next.CompileTime = tenant.StateCompiled, took
		return nil
	}, nil
}

// decide approves a version that was tried, or has it wait for an operator.
func (d *Deployer) decide(seen *tenant.Version) error {
	var refused error
	err := d.change(d.ctx, func(s *tenant.Snapshot) (*tenant.Change, error) {
		refused = nil
		v := s.VersionOf(seen.ID(), seen.Number)
		if v == nil || v.State != tenant.StateTried {
			return nil, nil
		}
		at, err := d.placeOf(s, v.ID())
		if err == nil {
			err = checkNow(at, v)
		}
		if refused = err; err != nil {
			return nil, nil
		}
		next := *v
		by := cmp.Or(approvedBy(at, &v.Policy), v.Approver)
		if by == "" {
			next.State = tenant.StateWaiting
			d.cfg.Logger.Info("version waits for an operator", attrs(&next)...)
			return &tenant.Change{Actor: "deploy", SetVersions: []*tenant.Version{&next}}, nil
		}
		d.cfg.Logger.Info("version approved", attrs(v, "by", by)...)
		return d.approved(s, &next, by, "deploy"), nil
	})
	if err == nil && refused != nil {
		return d.refuse(seen, refused)
	}
	return err
}

// checkNow refuses a policy that was right when the version was tried.
func checkNow(at *place, v *tenant.Version) error {
	if at.active != nil && approvedBy(at, &v.Policy) != "" {
		return checkActive(at, &v.Policy)
	}
	return checkPolicy(at, &v.Policy)
}

// approved makes a version approved, and does what its deployer has asked for then.
func (d *Deployer) approved(s *tenant.Snapshot, v *tenant.Version, by, actor string) *tenant.Change {
	v.State, v.Reason, v.Decided, v.Decider = tenant.StateApproved, "", d.cfg.Now().UTC(), by
	return &tenant.Change{Actor: actor, SetVersions: []*tenant.Version{v}, SetRoutes: routesFor(s, v, actor, v.Decided)}
}

// routesFor is the route that a deployer has asked for; none if nothing was asked.
func routesFor(s *tenant.Snapshot, v *tenant.Version, actor string, now time.Time) []*tenant.Route {
	r := tenant.Route{Tenant: v.Tenant, Provider: v.Provider}
	if old := s.Routes[v.ID()]; old != nil {
		r = *old
	}
	switch {
	case !v.Next.Promote && !v.Next.Canary, r.Active == v.Number:
		return nil
	case v.Next.Canary && r.Active != 0:
		r.Canary, r.Share, r.PromoteAfter = v.Number, v.Next.Share, v.Next.PromoteAfter
	default:
		promote(&r, v.Number)
	}
	r.Changed, r.Changer = now.UTC(), actor
	return []*tenant.Route{&r}
}

// promote makes a version the active one.
func promote(r *tenant.Route, number int) {
	if r.Active != number {
		r.Previous = r.Active
	}
	r.Active = number
	endCanary(r)
}

// endCanary has no version on trial.
func endCanary(r *tenant.Route) { r.Canary, r.Share, r.PromoteAfter = 0, 0, 0 }

// textOf is JSON for the store; a shorter one that says so if it would be too long.
func textOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil || len(text) > tenant.MaxVersionText {
		return fmt.Sprintf(`{"omitted":"it has %d bytes, at most %d are kept"}`, len(text), tenant.MaxVersionText)
	}
	return string(text)
}

// A manifest is what the store keeps of a provider's own description.
type manifest struct {
	Name         string       `json:"name"`
	Version      string       `json:"version,omitempty"`
	Title        string       `json:"title,omitempty"`
	Description  string       `json:"description,omitempty"`
	SDK          string       `json:"sdk,omitempty"`
	Resources    []string     `json:"resources"` // URIs
	Templates    []string     `json:"templates"`
	Capabilities []capability `json:"capabilities"`
}

type capability struct {
	Name     string `json:"name"`
	Params   string `json:"params,omitempty"`
	Optional bool   `json:"optional,omitempty"`
	Reason   string `json:"reason,omitempty"` // the provider's own words
}

func manifestOf(m *abi.Manifest) manifest {
	of := manifest{
		Name: m.Name, Version: m.Version, Title: m.Title, Description: m.Description, SDK: m.SDK,
		Resources: []string{}, Templates: []string{}, Capabilities: []capability{},
	}
	for i := range m.Resources {
		of.Resources = append(of.Resources, m.Resources[i].URI)
	}
	for i := range m.Templates {
		of.Templates = append(of.Templates, m.Templates[i].URITemplate)
	}
	for _, c := range m.Capabilities {
		of.Capabilities = append(of.Capabilities, capability{c.Name, c.Params, c.Optional, c.Reason})
	}
	return of
}

// findingsOf says in one line what a trial found that refuses a version.
func findingsOf(found []check.Finding) string {
	f := &found[0]
	text := fmt.Sprintf("%s: %s: %s", f.Rule, strict.Clip(f.Where), f.Problem)
	if more := len(found) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}
