package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// A state is what the file says.
type state struct {
	snapshot *tenant.Snapshot
	sum      sum // of all rows
}

// load reads all rows. An error may say that the file is damaged.
func load(ctx context.Context, db *sql.DB) (*state, error) {
	if err := quickCheck(ctx, db); err != nil {
		return nil, err
	}
	l := &state{snapshot: &tenant.Snapshot{
		Tenants: map[string]*tenant.Tenant{}, Plans: map[string]*tenant.Plan{},
		AdminKeys: map[string]*tenant.AdminKey{}, Secrets: map[tenant.SecretID]*tenant.Secret{},
		Versions: map[tenant.ProviderID][]*tenant.Version{}, Routes: map[tenant.ProviderID]*tenant.Route{}, Numbers: map[tenant.ProviderID]int{},
		Keys: map[string]*tenant.Key{}, Gone: map[string]time.Time{}, GoneOwners: map[string]tenant.Owner{},
	}}
	var generation int64
	var want []byte
	err := db.QueryRowContext(ctx, `SELECT generation, sum FROM state`).Scan(&generation, &want)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, damaged("the table state is empty")
	}
	if err != nil {
		return nil, err
	}
	l.snapshot.Generation = uint64(generation)
	for _, k := range []kind{tenants, plans, keys, adminKeys, secrets, versions, routes, numbers} {
		if err := l.read(ctx, db, k); err != nil {
			return nil, err
		}
	}
	if got := l.sum.at(l.snapshot.Generation); string(want) != string(got[:]) {
		return nil, damaged("rows are missing, or are those of another time")
	}
	return l, l.complete()
}

func quickCheck(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return damaged("%s", verdict)
	}
	return nil
}

// selects has what a row is read with. A body that is too long comes as NULL, so that it is not read into memory.
var selects = map[kind]string{
	tenants: `SELECT id, owner, gone, length(body), iif(length(body) <= ?, body, NULL), sum, 0 FROM tenant`,
	plans:   `SELECT id, '', 0, length(body), iif(length(body) <= ?, body, NULL), sum, 0 FROM plan`,
	keys:    `SELECT id, tenant, 0, length(body), iif(length(body) <= ?, body, NULL), sum, last_used FROM key`,

	adminKeys: `SELECT id, '', 0, length(body), iif(length(body) <= ?, body, NULL), sum, 0 FROM admin_key`,
	secrets:   `SELECT id, tenant, 0, length(body), iif(length(body) <= ?, body, NULL), sum, 0 FROM secret`,

	versions: `SELECT id, tenant, 0, length(body), iif(length(body) <= ?, body, NULL), sum, 0 FROM version`,
	routes:   `SELECT id, tenant, 0, length(body), iif(length(body) <= ?, body, NULL), sum, 0 FROM route`,
	numbers:  `SELECT id, tenant, 0, length(body), iif(length(body) <= ?, body, NULL), sum, 0 FROM number`,
}

func (l *state) read(ctx context.Context, db *sql.DB, k kind) error {
	rows, err := db.QueryContext(ctx, selects[k], maxBody)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		r := row{kind: k}
		var length int
		var want, body sql.RawBytes // not copied
		if err := rows.Scan(&r.id, &r.of, &r.gone, &length, &body, &want, &r.lastUsed); err != nil {
			return err
		}
		r.body = body
		if got := r.sum(); len(body) != length || string(got[:]) != string(want) {
			return damaged("the row of %s %.100q is not as it was written", k, r.id)
		}
		l.sum.toggle(sum(want))
		if err := l.add(&r); err != nil {
			return damaged("the row of %s %.100q cannot be read: %v", k, r.id, err)
		}
	}
	return rows.Err()
}

// add puts the object of a row into the snapshot.
func (l *state) add(r *row) (err error) {
	s := l.snapshot
	switch {
	case r.kind == plans:
		s.Plans[r.id], err = r.plan()
	case r.kind == keys:
		s.Keys[r.id], err = r.key()
	case r.kind == adminKeys:
		s.AdminKeys[r.id], err = r.adminKey()
	case r.kind == secrets:
		var one *tenant.Secret
		if one, err = r.secret(); err == nil {
			s.Secrets[tenant.SecretID{Tenant: one.Tenant, Name: one.Name}] = one
		}
	case r.kind == versions, r.kind == routes, r.kind == numbers:
		err = r.addDeployed(s)
	case r.gone != 0:
		s.Gone[r.id], s.GoneOwners[r.id] = time.UnixMilli(r.gone).UTC(), tenant.Owner(r.of)
	default:
		s.Tenants[r.id], err = r.tenant()
	}
	return err
}

// complete makes what is not in the rows, and checks what they say of each other.
func (l *state) complete() error {
	s := l.snapshot
	if s.Plans[tenant.DefaultPlan] == nil {
		s.Plans[tenant.DefaultPlan] = defaultPlan()
	}
	hosts, err := hostsOf(s.Tenants)
	if err != nil {
		return damaged("%v", err)
	}
	s.Hosts = hosts
	for id, k := range s.Keys {
		_, isGone := s.Gone[k.Tenant]
		if s.Tenants[k.Tenant] == nil && !isGone {
			return damaged("key %s is of tenant %q, which is missing", id, k.Tenant)
		}
	}
	for id := range s.Secrets {
		_, isGone := s.Gone[id.Tenant]
		if s.Tenants[id.Tenant] == nil && !isGone {
			return damaged("secret %s is of tenant %q, which is missing", id.Name, id.Tenant)
		}
	}
	return completeDeployed(s)
}

// defaultPlan gives the plan that there is always.
func defaultPlan() *tenant.Plan { return &tenant.Plan{Name: tenant.DefaultPlan} }

// hostsOf gives the tenants by their host names. Two tenants with one name are an error, always that of the same two.
func hostsOf(all map[string]*tenant.Tenant) (map[string]*tenant.Tenant, error) {
	hosts, shared := map[string]*tenant.Tenant{}, ""
	for _, t := range all {
		for _, host := range t.Hosts {
			if other := hosts[host]; other != nil && other != t && (shared == "" || host < shared) {
				shared = host
			}
			hosts[host] = t
		}
	}
	if shared == "" {
		return hosts, nil
	}
	var both []string
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(all[id].Hosts, shared) {
			both = append(both, id)
		}
	}
	return nil, fmt.Errorf("the host name %q is of the tenants %q: each name is of one", shared, both)
}
