package admin

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
)

// yamlType is the type of bodies as files have them. JSON is read as well, which is YAML.
const yamlType = "application/yaml"

// fileBody returns the body of a request that has what a file would have.
func fileBody(r *http.Request) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != jsonType && kind != yamlType {
		return nil, problem(http.StatusUnsupportedMediaType, CodeMediaType, "Content-Type: the body must be %s or %s", yamlType, jsonType)
	}
	return io.ReadAll(r.Body)
}

// given returns what objects of the API are checked against.
func (s *Server) given(now *tenant.Snapshot) *tenant.Given {
	return &tenant.Given{Settings: s.cfg.Host.Settings(), Now: now}
}

// ownedTenant returns a tenant that the API may change.
func ownedTenant(now *tenant.Snapshot, id string) (*tenant.Tenant, error) {
	if err := knownTenant(now, id); err != nil {
		return nil, err
	}
	t := now.Tenants[id]
	if t == nil || t.Owner != tenant.OwnerAPI {
		return nil, ofFiles(id, t)
	}
	return t, nil
}

// ofFiles says that a tenant is one of files; nil is one whose file was never right.
func ofFiles(id string, t *tenant.Tenant) error {
	p := problem(http.StatusConflict, CodeOwned, "the tenant %s is what its file says: change that, or run 'wasmres tenant adopt %s --owner api'", id, id)
	if t != nil && len(t.Files) > 0 {
		p.File = t.Files[0]
		p.Detail = fmt.Sprintf("the tenant %s is what %s says: change that, or run 'wasmres tenant adopt %s --owner api'", id, p.File, id)
	}
	return p
}

func tagOfTenant(id string) func(*tenant.Snapshot) string {
	return func(now *tenant.Snapshot) string {
		if now.Tenants[id] == nil {
			return ""
		}
		return tagOf(now.Tenants[id])
	}
}

// setTenant makes what next makes of the present state the tenant of an ID, and answers it.
func (s *Server) setTenant(r *http.Request, id string, next func(*tenant.Snapshot) (*tenant.Tenant, error)) (answer, error) {
	var set *tenant.Tenant
	status := http.StatusOK
	err := s.change(r, tagOfTenant(id), func(now *tenant.Snapshot) (err error) {
		if set, err = next(now); err != nil {
			return err
		}
		if status = http.StatusOK; now.Tenants[id] == nil {
			status = http.StatusCreated
		}
		_, err = s.cfg.Host.Apply(r.Context(), tenant.Change{
			Base: now.Generation, Actor: actorOf(r.Context()), Owner: tenant.OwnerAPI, SetTenants: []*tenant.Tenant{set},
		})
		return err
	})
	if err != nil {
		return answer{}, err
	}
	now := s.cfg.Host.Snapshot()
	return answer{status: status, body: s.summary(now, id, len(keysByTenant(now)[id])), tag: tagOf(set), location: "/v1/tenants/" + id}, nil
}

func (s *Server) putTenant(r *http.Request) (answer, error) {
	text, err := fileBody(r)
	if err != nil {
		return answer{}, err
	}
	id, c := r.PathValue("tenant"), callerOf(r.Context())
	if !tenant.IsID(id) {
		return answer{}, invalid("%q is not the ID of a tenant: an ID has lower-case letters, digits and dashes, at most %d", strict.Clip(id), tenant.MaxID)
	}
	return s.setTenant(r, id, func(now *tenant.Snapshot) (*tenant.Tenant, error) {
		old := now.Tenants[id]
		if _, isStale := now.Problems[id]; old != nil && old.Owner != tenant.OwnerAPI || old == nil && isStale {
			return nil, ofFiles(id, old)
		}
		next, err := s.given(now).Tenant(id, text)
		if err != nil {
			return nil, err
		}
		return next, mayAllot(c, old, next)
	})
}

// mayAllot refuses what only an operator may give a tenant: being there, its plan and its names.
func mayAllot(c caller, old, next *tenant.Tenant) error {
	switch {
	case c.role == Operator:
		return nil
	case old == nil:
		return forbidden("only an operator makes tenants")
	case cmp.Or(old.Plan, tenant.DefaultPlan) != cmp.Or(next.Plan, tenant.DefaultPlan):
		return forbidden("plan: only an operator gives a tenant another plan")
	case !slices.Equal(old.Hosts, next.Hosts):
		return forbidden("hosts: only an operator gives a tenant names")
	case old.Disabled != next.Disabled:
		return forbidden("disabled: only an operator disables and enables tenants")
	}
	return nil
}

func (s *Server) removeTenant(r *http.Request) (answer, error) {
	id := r.PathValue("tenant")
	err := s.change(r, tagOfTenant(id), func(now *tenant.Snapshot) error {
		if _, err := ownedTenant(now, id); err != nil {
			return err
		}
		_, err := s.cfg.Host.Apply(r.Context(), tenant.Change{Base: now.Generation, Actor: actorOf(r.Context()), Owner: tenant.OwnerAPI, RemoveTenants: []string{id}})
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return done()
}

func (s *Server) exportTenant(r *http.Request) (answer, error) {
	now, id := s.cfg.Host.Snapshot(), r.PathValue("tenant")
	if err := knownTenant(now, id); err != nil {
		return answer{}, err
	}
	t := now.Tenants[id]
	if t == nil {
		return answer{}, invalid("the tenant %s was never right: %s", id, now.Problems[id])
	}
	return answer{tag: tagOf(t), contentType: yamlType, stream: func(_ context.Context, w streamWriter) error {
		_, err := w.Write(t.Encode())
		return err
	}}, nil
}

func (s *Server) disableTenant(r *http.Request) (answer, error) { return s.setDisabled(r, true) }

func (s *Server) enableTenant(r *http.Request) (answer, error) { return s.setDisabled(r, false) }

func (s *Server) setDisabled(r *http.Request, disabled bool) (answer, error) {
	id := r.PathValue("tenant")
	return s.setTenant(r, id, func(now *tenant.Snapshot) (*tenant.Tenant, error) {
		t, err := ownedTenant(now, id)
		if err != nil {
			return nil, err
		}
		next := *t
		next.Disabled = disabled
		return &next, nil
	})
}

func (s *Server) putProvider(r *http.Request) (answer, error) {
	text, err := fileBody(r)
	if err != nil {
		return answer{}, err
	}
	id := r.PathValue("tenant")
	return s.setTenant(r, id, func(now *tenant.Snapshot) (*tenant.Tenant, error) {
		t, err := ownedTenant(now, id)
		if err != nil {
			return nil, err
		}
		return s.given(now).Provider(t, r.PathValue("provider"), text)
	})
}

func (s *Server) removeProvider(r *http.Request) (answer, error) {
	id, name := r.PathValue("tenant"), r.PathValue("provider")
	return s.setTenant(r, id, func(now *tenant.Snapshot) (*tenant.Tenant, error) {
		t, err := ownedTenant(now, id)
		if err != nil {
			return nil, err
		}
		var names []string
		for i := range t.Providers {
			names = append(names, t.Providers[i].Name)
		}
		if !slices.Contains(names, name) {
			p := problem(http.StatusNotFound, CodeNoProvider, "tenant %s has no provider %q", id, strict.Clip(name))
			p.near(name, names)
			return nil, p
		}
		next, err := s.given(now).WithoutProvider(t, name)
		if err != nil {
			return nil, invalid("%v", err)
		}
		return next, nil
	})
}

// adoptTenant gives a tenant another owner. Files become the owner only if there is a file, which is read at once.
func (s *Server) adoptTenant(r *http.Request) (answer, error) {
	var asked Adoption
	if err := decode(r, &asked); err != nil {
		return answer{}, err
	}
	if asked.Owner != tenant.OwnerFiles && asked.Owner != tenant.OwnerAPI {
		return answer{}, invalid("owner %q: it is one of files, api", strict.Clip(string(asked.Owner)))
	}
	id := r.PathValue("tenant")
	err := s.change(r, tagOfTenant(id), func(now *tenant.Snapshot) error {
		if err := knownTenant(now, id); err != nil {
			return err
		}
		t := now.Tenants[id]
		if t == nil {
			return invalid("the tenant %s was never right: %s", id, now.Problems[id])
		}
		if t.Owner == asked.Owner {
			return nil
		}
		if err := s.checkAdoption(id, asked.Owner); err != nil {
			return err
		}
		next := *t
		next.Owner, next.Files, next.Digest = asked.Owner, nil, "" // what a file says is read again
		_, err := s.cfg.Host.Apply(r.Context(), tenant.Change{
			Base: now.Generation, Actor: actorOf(r.Context()), Owner: asked.Owner, SetTenants: []*tenant.Tenant{&next}, Adopt: []string{id},
		})
		return err
	})
	if err != nil {
		return answer{}, err
	}
	if _, err := s.cfg.Host.Reload(r.Context()); err != nil {
		s.cfg.Logger.Warn("files not read after a tenant was adopted", "tenant", id, "err", err)
	}
	now := s.cfg.Host.Snapshot()
	return answer{body: s.summary(now, id, len(keysByTenant(now)[id])), tag: tagOfTenant(id)(now)}, nil
}

// checkAdoption refuses to give a tenant to files that have none of it: it would be removed.
func (s *Server) checkAdoption(id string, owner tenant.Owner) error {
	if owner != tenant.OwnerFiles {
		return nil // its file is a problem, which is shown, until it is removed
	}
	file := filepath.Join(s.cfg.Host.Settings().Tenants, id+".yaml")
	if _, err := os.Stat(file); err != nil {
		return invalid("there is no file %s: write it with 'wasmres tenant export %s > %s' first", file, id, file)
	}
	return nil
}

func (s *Server) listPlans(r *http.Request) (answer, error) {
	p, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	now := s.cfg.Host.Snapshot()
	names, next := p.cut(slices.Sorted(maps.Keys(now.Plans)))
	items := []Plan{}
	for _, name := range names {
		items = append(items, planOf(now, now.Plans[name]))
	}
	return answer{body: Page[Plan]{items, next}, tag: tagOfGeneration(now.Generation)}, nil
}

func planOf(now *tenant.Snapshot, of *tenant.Plan) Plan {
	plan := Plan{Name: of.Name, Owner: cmp.Or(of.Owner, tenant.OwnerFiles), Weight: cmp.Or(of.Weight, 1), File: string(of.Encode())}
	for _, t := range now.Tenants {
		if cmp.Or(t.Plan, tenant.DefaultPlan) == of.Name {
			plan.Tenants++
		}
	}
	return plan
}

func tagOfPlan(name string) func(*tenant.Snapshot) string {
	return func(now *tenant.Snapshot) string {
		if now.Plans[name] == nil {
			return ""
		}
		return tagOf(now.Plans[name])
	}
}

// planOfFiles says that a plan is one of serve.yaml.
func (s *Server) planOfFiles(name string) error {
	p := problem(http.StatusConflict, CodeOwned, "the plan %s is what serve.yaml says: change it there", name)
	if files := s.cfg.Host.Settings().Files; len(files) > 0 {
		p.File = files[0]
	}
	return p
}

func (s *Server) putPlan(r *http.Request) (answer, error) {
	text, err := fileBody(r)
	if err != nil {
		return answer{}, err
	}
	name, status := r.PathValue("plan"), http.StatusOK
	var plan *tenant.Plan
	err = s.change(r, tagOfPlan(name), func(now *tenant.Snapshot) (err error) {
		old := now.Plans[name]
		if old != nil && old.Owner != tenant.OwnerAPI {
			return s.planOfFiles(name)
		}
		if status = http.StatusOK; old == nil {
			status = http.StatusCreated
		}
		if plan, err = s.given(now).Plan(name, text); err != nil {
			return err
		}
		_, err = s.cfg.Host.Apply(r.Context(), tenant.Change{Base: now.Generation, Actor: actorOf(r.Context()), Owner: tenant.OwnerAPI, PutPlans: []*tenant.Plan{plan}})
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return answer{status: status, body: planOf(s.cfg.Host.Snapshot(), plan), tag: tagOf(plan), location: "/v1/plans/" + name}, nil
}

func (s *Server) removePlan(r *http.Request) (answer, error) {
	name := r.PathValue("plan")
	err := s.change(r, tagOfPlan(name), func(now *tenant.Snapshot) error {
		old := now.Plans[name]
		if old == nil {
			p := problem(http.StatusNotFound, CodeNoPlan, "no plan %q", strict.Clip(name))
			p.near(name, slices.Sorted(maps.Keys(now.Plans)))
			return p
		}
		if old.Owner != tenant.OwnerAPI {
			return s.planOfFiles(name)
		}
		_, err := s.cfg.Host.Apply(r.Context(), tenant.Change{Base: now.Generation, Actor: actorOf(r.Context()), Owner: tenant.OwnerAPI, RemovePlans: []string{name}})
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return done()
}
