package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// maxReason bounds the texts of versions and routes that name a person or a reason, in bytes.
const maxReason = 8 << 10

var versionStates = []tenant.VersionState{
	tenant.StatePushed, tenant.StateAdmitted, tenant.StateCompiled, tenant.StateTried, tenant.StateWaiting, tenant.StateApproved,
	tenant.StateRejected, tenant.StateRefused, tenant.StateFailed,
}

func checkVersion(v *tenant.Version) error {
	digest, isSHA256 := strings.CutPrefix(v.Digest, "sha256:")
	switch {
	case checkProviderID(v.ID()) != nil:
		return checkProviderID(v.ID())
	case v.Number < 1:
		return fmt.Errorf("a version of %s has the number %d: numbers begin with 1", v.ID(), v.Number)
	case !isSHA256 || len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "":
		return fmt.Errorf("version %s has the digest %.80q, which is no SHA-256", v.Name(), v.Digest)
	case v.Size < 0:
		return fmt.Errorf("version %s has %d bytes", v.Name(), v.Size)
	case !slices.Contains(versionStates, v.State):
		return fmt.Errorf("version %s has the state %.20q, which is not one", v.Name(), v.State)
	case v.Next.Share < 0 || v.Next.Share > 100:
		return fmt.Errorf("version %s is to have a share of %d percent", v.Name(), v.Next.Share)
	case max(len(v.Manifest), len(v.Report)) > tenant.MaxVersionText:
		return fmt.Errorf("version %s has a manifest or a report of more than %d bytes", v.Name(), tenant.MaxVersionText)
	case max(len(v.Reason), len(v.Reference), len(v.Metered), len(v.Creator), len(v.Decider), len(v.Approver)) > maxReason:
		return fmt.Errorf("version %s has a text of more than %d bytes", v.Name(), maxReason)
	}
	return nil
}

func checkProviderID(id tenant.ProviderID) error {
	if !tenant.IsID(id.Tenant) || id.Provider == "" || len(id.Provider) > maxName || strings.ContainsAny(id.Provider, "/@") {
		return fmt.Errorf("%.70q of %.70q is not the name of a provider", id.Provider, id.Tenant)
	}
	return nil
}

func checkRoute(r *tenant.Route) error {
	switch {
	case checkProviderID(r.ID()) != nil:
		return checkProviderID(r.ID())
	case min(r.Active, r.Previous, r.Canary) < 0:
		return fmt.Errorf("the route of %s names a version below 0", r.ID())
	case r.Share < 0 || r.Share > 100:
		return fmt.Errorf("the canary of %s has a share of %d percent: it is from 0 to 100", r.ID(), r.Share)
	case r.Canary == 0 && r.Share != 0:
		return fmt.Errorf("the route of %s has a share without a canary", r.ID())
	case r.Canary != 0 && (r.Canary == r.Active || r.Active == 0):
		return fmt.Errorf("the canary of %s stands beside another version, which is active", r.ID())
	case len(r.Changer) > maxReason:
		return fmt.Errorf("the route of %s has a text of more than %d bytes", r.ID(), maxReason)
	}
	return nil
}

// numbersOf returns the versions that a route names, but those that it names by 0.
func numbersOf(r *tenant.Route) []int {
	return slices.DeleteFunc([]int{r.Active, r.Previous, r.Canary}, func(n int) bool { return n == 0 })
}

func versionRow(v *tenant.Version) (row, error) {
	body, err := encode("version", v.Name(), v)
	return row{kind: versions, id: v.Name(), of: v.Tenant, body: body}, err
}

func routeRow(r *tenant.Route) (row, error) {
	id := r.ID().String()
	body, err := encode("route", id, r)
	return row{kind: routes, id: id, of: r.Tenant, body: body}, err
}

func numberRow(id tenant.ProviderID, number int) row {
	return row{kind: numbers, id: id.String(), of: id.Tenant, body: strconv.AppendInt(nil, int64(number), 10)}
}

// addDeployed puts a version, a route or a number into a snapshot.
func (r *row) addDeployed(s *tenant.Snapshot) error {
	switch r.kind {
	case versions:
		v := &tenant.Version{}
		if err := decode(r.body, v); err != nil {
			return err
		}
		if v.Name() != r.id || v.Tenant != r.of {
			return errors.New("it is of another version")
		}
		s.Versions[v.ID()] = append(s.Versions[v.ID()], v)
		return checkVersion(v)
	case routes:
		one := &tenant.Route{}
		if err := decode(r.body, one); err != nil {
			return err
		}
		if one.ID().String() != r.id || one.Tenant != r.of {
			return errors.New("it is of another route")
		}
		s.Routes[one.ID()] = one
		return checkRoute(one)
	}
	name, provider, _ := strings.Cut(r.id, "/")
	id := tenant.ProviderID{Tenant: name, Provider: provider}
	number, err := strconv.Atoi(string(r.body))
	if err != nil || number < 1 || id.Tenant != r.of {
		return errors.New("it is no number of this provider")
	}
	s.Numbers[id] = number
	return checkProviderID(id)
}

// completeDeployed sorts the versions of a snapshot that was read, and checks what its rows say of each other.
func completeDeployed(s *tenant.Snapshot) error {
	for id, all := range s.Versions {
		slices.SortFunc(all, byNumber)
		if all[len(all)-1].Number > s.Numbers[id] {
			return damaged("the number of the last version of %s is missing", id)
		}
	}
	for id := range s.Numbers {
		_, isGone := s.Gone[id.Tenant]
		if s.Tenants[id.Tenant] == nil && !isGone {
			return damaged("versions of %s are of a tenant that is missing", id)
		}
	}
	for _, r := range s.Routes {
		if err := checkNamed(s, r); err != nil {
			return damaged("%v", err)
		}
	}
	return nil
}

func byNumber(a, b *tenant.Version) int { return a.Number - b.Number }

// checkNamed checks that the versions of a route may run.
func checkNamed(s *tenant.Snapshot, r *tenant.Route) error {
	for _, number := range numbersOf(r) {
		v := s.VersionOf(r.ID(), number)
		switch {
		case v == nil:
			return fmt.Errorf("the route of %s names version %d, which does not exist", r.ID(), number)
		case !v.IsRunnable():
			return fmt.Errorf("the route of %s names version %d, which is %s", r.ID(), number, v.State)
		}
	}
	return nil
}

// prepareDeployed checks the versions and routes of a change by themselves.
func (p *prepared) prepareDeployed(once func(what, id string) error) error {
	p.SetVersions = slices.SortedFunc(slices.Values(p.SetVersions), byNumber) // so that each is the highest of its provider
	for _, v := range p.SetVersions {
		if err := checkVersion(v); err != nil {
			return fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
		}
		if err := once(string(versions), v.Name()); err != nil {
			return err
		}
	}
	for _, v := range p.RemoveVersions {
		if err := once(string(versions), v.Name()); err != nil {
			return err
		}
	}
	for _, r := range p.SetRoutes {
		if err := checkRoute(r); err != nil {
			return fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
		}
		if err := add(&p.routes, once, routeRow, r); err != nil {
			return err
		}
	}
	return nil
}

// applyDeployed makes the changes of versions and routes.
func (d *draft) applyDeployed(p *prepared) error {
	if len(p.SetVersions)+len(p.RemoveVersions)+len(p.SetRoutes) == 0 {
		return nil
	}
	next := map[tenant.ProviderID][]*tenant.Version{} // of the providers that change
	for _, v := range p.RemoveVersions {
		d.versionsIn(next, v.ID())
		next[v.ID()] = slices.DeleteFunc(next[v.ID()], func(o *tenant.Version) bool { return o.Number == v.Number })
	}
	for _, v := range p.SetVersions {
		if err := d.setVersion(next, v); err != nil {
			return err
		}
	}
	if err := d.setRoutes(p, next); err != nil {
		return err
	}
	return d.putVersions(next)
}

// versionsIn makes next have the versions of a provider, which may be changed there.
func (d *draft) versionsIn(next map[tenant.ProviderID][]*tenant.Version, id tenant.ProviderID) {
	if _, ok := next[id]; !ok {
		next[id] = slices.Clone(d.next.snapshot.Versions[id])
	}
}

func (d *draft) setVersion(next map[tenant.ProviderID][]*tenant.Version, v *tenant.Version) error {
	s, id := d.next.snapshot, v.ID()
	d.versionsIn(next, id)
	all := next[id]
	i, found := slices.BinarySearchFunc(all, v, byNumber)
	switch {
	case !found && (s.Tenants[v.Tenant] == nil || s.Tenants[v.Tenant].Provider(v.Provider) == nil):
		return fmt.Errorf("%w: version %s is of a provider that does not exist", tenant.ErrInvalid, v.Name())
	case !found && v.Number <= s.Numbers[id]:
		return fmt.Errorf("%w: %s has had a version %d: the next is %d", tenant.ErrInvalid, id, v.Number, s.Numbers[id]+1)
	case !found && len(all) >= tenant.MaxVersions:
		return fmt.Errorf("%w versions of %s: %d, which is the most", tenant.ErrTooMany, id, len(all))
	case found && (all[i].Digest != v.Digest || all[i].Size != v.Size):
		return fmt.Errorf("%w: version %s has another module", tenant.ErrInvalid, v.Name())
	}
	if found {
		changed := *v
		changed.Replaced = all[i].Replaced
		all[i] = &changed
		return nil
	}
	next[id] = slices.Insert(all, i, v)
	own(&s.Numbers, &d.changesNumbers)
	s.Numbers[id] = v.Number
	d.put = append(d.put, numberRow(id, v.Number))
	return nil
}

// setRoutes sets the routes of a change, and notes in versions that they were replaced.
func (d *draft) setRoutes(p *prepared, next map[tenant.ProviderID][]*tenant.Version) error {
	s := d.next.snapshot
	for i, r := range p.SetRoutes {
		id, old := r.ID(), s.Routes[r.ID()]
		if t := s.Tenants[r.Tenant]; t == nil || t.Provider(r.Provider) == nil {
			return fmt.Errorf("%w: the route of %s is of a provider that does not exist", tenant.ErrInvalid, id)
		}
		if old != nil && isSame(old, routeRow, &p.routes[i]) {
			continue
		}
		own(&s.Routes, &d.changesRoutes)
		s.Routes[id] = r
		d.put = append(d.put, p.routes[i])
		d.versionsIn(next, id)
		if old == nil {
			old = &tenant.Route{}
		}
		for j, v := range next[id] {
			switch serves, did := r.Active == v.Number || r.Canary == v.Number, old.Active == v.Number || old.Canary == v.Number; {
			case serves && !v.Replaced.IsZero():
				next[id][j] = withReplaced(v, time.Time{})
			case did && !serves:
				next[id][j] = withReplaced(v, d.now.UTC().Truncate(time.Millisecond))
			}
		}
	}
	return nil
}

func withReplaced(v *tenant.Version, at time.Time) *tenant.Version {
	changed := *v
	changed.Replaced = at
	return &changed
}

// putVersions makes versions those of the snapshot, as far as they differ, and checks the routes of their providers.
func (d *draft) putVersions(next map[tenant.ProviderID][]*tenant.Version) error {
	s := d.next.snapshot
	for id, all := range next {
		if err := d.putVersionsOf(id, all); err != nil {
			return err
		}
		if r := s.Routes[id]; r != nil {
			if err := checkNamed(s, r); err != nil {
				return fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
			}
		}
	}
	return nil
}

func (d *draft) putVersionsOf(id tenant.ProviderID, all []*tenant.Version) error {
	s, was := d.next.snapshot, d.next.snapshot.Versions[id]
	before := make(map[int]*tenant.Version, len(was))
	for _, v := range was {
		before[v.Number] = v
	}
	changed := false
	for i, v := range all {
		old := before[v.Number]
		delete(before, v.Number)
		if old == v {
			continue
		}
		r, err := versionRow(v)
		if err != nil {
			return err
		}
		if old != nil && isSame(old, versionRow, &r) {
			all[i] = old
			continue
		}
		changed = true
		d.put = append(d.put, r)
	}
	for _, number := range slices.Sorted(maps.Keys(before)) {
		changed = true
		d.drop = append(d.drop, row{kind: versions, id: before[number].Name()})
	}
	if !changed {
		return nil
	}
	own(&s.Versions, &d.changesVersions)
	if s.Versions[id] = all; len(all) == 0 {
		delete(s.Versions, id)
	}
	return nil
}

// removeDeployedOf removes the versions and routes of tenants.
func (d *draft) removeDeployedOf(gone map[string]bool) {
	s := d.next.snapshot
	for id := range s.Numbers {
		if !gone[id.Tenant] {
			continue
		}
		own(&s.Numbers, &d.changesNumbers)
		delete(s.Numbers, id)
		d.drop = append(d.drop, row{kind: numbers, id: id.String()})
		if s.Routes[id] != nil {
			own(&s.Routes, &d.changesRoutes)
			delete(s.Routes, id)
			d.drop = append(d.drop, row{kind: routes, id: id.String()})
		}
		if len(s.Versions[id]) == 0 {
			continue
		}
		for _, v := range s.Versions[id] {
			d.drop = append(d.drop, row{kind: versions, id: v.Name()})
		}
		own(&s.Versions, &d.changesVersions)
		delete(s.Versions, id)
	}
}
