package store

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// goneFor is for how long the ID of a removed tenant is not given to another owner.
const goneFor = 30 * 24 * time.Hour

// A prepared is a change with the rows of its objects, as they are without knowledge of the present state.
type prepared struct {
	tenant.Change
	tenants, plans, keys []row // of SetTenants, SetPlans and SetKeys
	putPlans             []row // of PutPlans
	adminKeys, secrets   []row // of SetAdminKeys and SetSecrets
	routes               []row // of SetRoutes
}

// prepare checks a change by itself.
func prepare(c *tenant.Change) (*prepared, error) {
	p := &prepared{Change: *c}
	seen := map[string]bool{}
	once := func(what, id string) error {
		if seen[what+id] {
			return fmt.Errorf("%w: %s %q is in it twice", tenant.ErrInvalid, what, id)
		}
		seen[what+id] = true
		return nil
	}
	for _, t := range c.SetTenants {
		if err := checkTenant(t); err != nil {
			return nil, fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
		}
		if t.Owner != c.Owner {
			return nil, fmt.Errorf("%w: tenant %s has the owner %q, the change %q", tenant.ErrInvalid, t.ID, t.Owner, c.Owner)
		}
		if err := add(&p.tenants, once, tenantRow, t); err != nil {
			return nil, err
		}
	}
	for _, id := range c.RemoveTenants {
		if err := once(string(tenants), id); err != nil {
			return nil, err
		}
	}
	if isDefault := func(p *tenant.Plan) bool { return p.Name == tenant.DefaultPlan }; c.SetPlans != nil &&
		!slices.ContainsFunc(c.SetPlans, isDefault) {
		p.SetPlans = append(slices.Clone(c.SetPlans), defaultPlan())
	}
	for _, one := range p.SetPlans {
		if err := checkPlan(one); err != nil {
			return nil, fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
		}
		if err := add(&p.plans, once, planRow, one); err != nil {
			return nil, err
		}
	}
	for _, one := range p.PutPlans {
		if err := checkPlan(one); err != nil {
			return nil, fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
		}
		if err := add(&p.putPlans, once, planRow, one); err != nil {
			return nil, err
		}
	}
	for _, name := range p.RemovePlans {
		if err := once(string(plans), name); err != nil {
			return nil, err
		}
	}
	for _, k := range c.SetKeys {
		if err := checkKey(k); err != nil {
			return nil, fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
		}
		if err := add(&p.keys, once, keyRow, k); err != nil {
			return nil, err
		}
	}
	for _, id := range c.RemoveKeys {
		if err := once(string(keys), id); err != nil {
			return nil, err
		}
	}
	if err := p.prepareSealed(once); err != nil {
		return nil, err
	}
	return p, p.prepareDeployed(once)
}

// add appends the row of an object, which must be in the change once.
func add[T any](rows *[]row, once func(what, id string) error, rowOf func(T) (row, error), v T) error {
	r, err := rowOf(v)
	if err != nil {
		return err
	}
	*rows = append(*rows, r)
	return once(string(r.kind), r.id)
}

// A draft is the state after a change, and the rows in which it differs from the one before.
type draft struct {
	now  time.Time
	next state
	put  []row
	drop []row // kind and id

	changesTenants, changesHosts, changesPlans, changesKeys, changesGone, changesProblems bool
	changesAdminKeys, changesSecrets                                                      bool
	changesVersions, changesRoutes, changesNumbers                                        bool
}

// newDraft begins with a state, which it does not change.
func newDraft(from *state, now time.Time) *draft {
	snapshot := *from.snapshot
	d := &draft{now: now, next: state{snapshot: &snapshot, sum: from.sum}}
	d.expireGone()
	return d
}

// changed says how the snapshot differs from that of a generation; nil if any tenant may.
func (d *draft) changed(since uint64) *tenant.Changed {
	if d.changesPlans {
		return nil
	}
	c := &tenant.Changed{Since: since}
	for _, rows := range [][]row{d.put, d.drop} {
		for i := range rows {
			switch r := &rows[i]; r.kind {
			case keys, plans, adminKeys:
			case tenants:
				c.Tenants = append(c.Tenants, r.id)
			default: // what belongs to a tenant, whose ID begins that of the row
				id, _, _ := strings.Cut(r.id, "/")
				c.Tenants = append(c.Tenants, id)
			}
		}
	}
	slices.Sort(c.Tenants)
	c.Tenants = slices.Compact(c.Tenants)
	return c
}

func (d *draft) hasEffect() bool { return len(d.put)+len(d.drop) > 0 || d.changesProblems }

// apply makes a change.
func (d *draft) apply(p *prepared) error {
	if err := d.removeTenants(p); err != nil {
		return err
	}
	if err := d.setTenants(p); err != nil {
		return err
	}
	if err := d.setPlans(p); err != nil {
		return err
	}
	if p.SetProblems != nil && !maps.Equal(p.SetProblems, d.next.snapshot.Problems) {
		d.next.snapshot.Problems, d.changesProblems = p.SetProblems, true
	}
	d.removeKeys(p.RemoveKeys)
	if err := d.setKeys(p); err != nil {
		return err
	}
	if err := d.applySealed(p); err != nil {
		return err
	}
	if err := d.applyDeployed(p); err != nil {
		return err
	}
	if !d.changesHosts {
		return nil
	}
	hosts, err := hostsOf(d.next.snapshot.Tenants)
	if err != nil {
		return fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
	}
	d.next.snapshot.Hosts = hosts
	return nil
}

// own makes a map one that the draft may change.
func own[M ~map[K]V, K comparable, V any](m *M, owned *bool) {
	if *owned {
		return
	}
	if *m = maps.Clone(*m); *m == nil {
		*m = M{}
	}
	*owned = true
}

func (d *draft) ownGone() {
	was := d.changesGone
	own(&d.next.snapshot.Gone, &d.changesGone)
	own(&d.next.snapshot.GoneOwners, &was)
}

// expireGone forgets the tenants that have been gone for long enough, with all that is theirs.
func (d *draft) expireGone() {
	s := d.next.snapshot
	free := map[string]bool{}
	for id, at := range s.Gone {
		free[id] = d.now.Sub(at) >= goneFor
	}
	maps.DeleteFunc(free, func(_ string, is bool) bool { return !is })
	if len(free) == 0 {
		return
	}
	d.ownGone()
	for id := range free {
		delete(d.next.snapshot.Gone, id)
		delete(d.next.snapshot.GoneOwners, id)
		d.drop = append(d.drop, row{kind: tenants, id: id})
	}
	var orphans []string
	for id, k := range s.Keys {
		if free[k.Tenant] {
			orphans = append(orphans, id)
		}
	}
	d.removeKeys(orphans)
	d.removeSealedOf(free)
	d.removeDeployedOf(free)
}

func (d *draft) removeTenants(p *prepared) error {
	s := d.next.snapshot
	for _, id := range p.RemoveTenants {
		t := s.Tenants[id]
		if t == nil {
			continue
		}
		if t.Owner != p.Owner {
			return fmt.Errorf("remove tenant %s: %w: %s", id, tenant.ErrOwned, t.Owner)
		}
		own(&s.Tenants, &d.changesTenants)
		d.ownGone()
		delete(s.Tenants, id)
		d.changesHosts = d.changesHosts || len(t.Hosts) > 0
		s.Gone[id], s.GoneOwners[id] = d.now.UTC().Truncate(time.Millisecond), t.Owner
		d.put = append(d.put, goneRow(id, t.Owner, d.now))
	}
	return nil
}

func (d *draft) setTenants(p *prepared) error {
	s := d.next.snapshot
	for i, t := range p.SetTenants {
		old := s.Tenants[t.ID]
		isAdopted := slices.Contains(p.Adopt, t.ID)
		if old != nil && old.Owner != t.Owner && !isAdopted {
			return fmt.Errorf("set tenant %s: %w: %s", t.ID, tenant.ErrOwned, old.Owner)
		}
		at, isGone := s.Gone[t.ID]
		if owner := d.next.snapshot.GoneOwners[t.ID]; isGone && owner != t.Owner {
			return fmt.Errorf("set tenant %s: %w: it was removed by %s, and its ID is free on %s", t.ID, tenant.ErrOwned, owner,
				at.Add(goneFor).Format(time.DateOnly))
		}
		if old != nil && isSame(old, tenantRow, &p.tenants[i]) {
			continue
		}
		if isGone {
			d.ownGone()
			delete(s.Gone, t.ID)
			delete(d.next.snapshot.GoneOwners, t.ID)
		}
		own(&s.Tenants, &d.changesTenants)
		s.Tenants[t.ID] = t
		d.changesHosts = d.changesHosts || len(t.Hosts) > 0 || old != nil && len(old.Hosts) > 0
		d.put = append(d.put, p.tenants[i])
	}
	return nil
}

// isSame reports whether a new row has the object that there is already.
func isSame[T any](old T, rowOf func(T) (row, error), r *row) bool {
	was, err := rowOf(old)
	return err == nil && was.of == r.of && bytes.Equal(was.body, r.body)
}

// setPlans makes the changes of plans. Those of files are replaced as a whole.
func (d *draft) setPlans(p *prepared) error {
	s := d.next.snapshot
	if p.SetPlans != nil {
		stays := map[string]bool{}
		for i, plan := range p.SetPlans {
			stays[plan.Name] = true
			if err := d.setPlan(plan, p.plans[i]); err != nil {
				return err
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Plans)) {
			if !stays[name] && s.Plans[name].Owner != tenant.OwnerAPI {
				d.removePlan(name)
			}
		}
	}
	for i, plan := range p.PutPlans {
		if err := d.setPlan(plan, p.putPlans[i]); err != nil {
			return err
		}
	}
	for _, name := range p.RemovePlans {
		if old := s.Plans[name]; old == nil {
			continue
		} else if old.Owner != tenant.OwnerAPI {
			return fmt.Errorf("remove plan %s: %w: %s", name, tenant.ErrOwned, tenant.OwnerFiles)
		}
		for id, t := range s.Tenants {
			if t.Plan == name {
				return fmt.Errorf("%w: the tenant %s has the plan %s: give it another one first", tenant.ErrInvalid, id, name)
			}
		}
		d.removePlan(name)
	}
	return nil
}

func (d *draft) setPlan(plan *tenant.Plan, r row) error {
	s := d.next.snapshot
	old := s.Plans[plan.Name]
	switch {
	case old != nil && (old.Owner == tenant.OwnerAPI) != (plan.Owner == tenant.OwnerAPI):
		return fmt.Errorf("set plan %s: %w: %s", plan.Name, tenant.ErrOwned, cmp.Or(old.Owner, tenant.OwnerFiles))
	case old != nil && isSame(old, planRow, &r):
		return nil
	}
	own(&s.Plans, &d.changesPlans)
	s.Plans[plan.Name] = plan
	d.put = append(d.put, r)
	return nil
}

func (d *draft) removePlan(name string) {
	own(&d.next.snapshot.Plans, &d.changesPlans)
	delete(d.next.snapshot.Plans, name)
	d.drop = append(d.drop, row{kind: plans, id: name})
}

func (d *draft) removeKeys(ids []string) {
	s := d.next.snapshot
	for _, id := range ids {
		if s.Keys[id] == nil {
			continue
		}
		own(&s.Keys, &d.changesKeys)
		delete(s.Keys, id)
		d.drop = append(d.drop, row{kind: keys, id: id})
	}
}

func (d *draft) setKeys(p *prepared) error {
	s := d.next.snapshot
	for i, k := range p.SetKeys {
		old := s.Keys[k.ID]
		switch {
		case s.Tenants[k.Tenant] == nil:
			return fmt.Errorf("%w: key %s is of tenant %.70q, which does not exist", tenant.ErrInvalid, k.ID, k.Tenant)
		case old != nil && old.Tenant != k.Tenant:
			return fmt.Errorf("set key %s: %w: another tenant", k.ID, tenant.ErrOwned)
		case old != nil && isSame(old, keyRow, &p.keys[i]):
			continue
		}
		r := p.keys[i]
		if old != nil && old.LastUsed.After(k.LastUsed) {
			k = withLastUsed(k, old.LastUsed)
			r.lastUsed = dayOf(k.LastUsed)
		}
		own(&s.Keys, &d.changesKeys)
		s.Keys[k.ID] = k
		d.put = append(d.put, r)
	}
	return nil
}

func withLastUsed(k *tenant.Key, t time.Time) *tenant.Key {
	changed := *k
	changed.LastUsed = t
	return &changed
}
