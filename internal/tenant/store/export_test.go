package store

import (
	"context"

	"github.com/wasmres/wasmres/internal/tenant"
)

// OpenAfter opens a store with a program that knows further versions of the tables.
func OpenAfter(ctx context.Context, c Config, further ...string) (*Store, error) {
	return open(ctx, c, append(migrations[:len(migrations):len(migrations)], further...))
}

// ReadRow reads the body of a row of a tenant or a key, and gives it as it would be written.
func ReadRow(id, of string, gone int64, body string, isTenant bool) (string, error) {
	r := row{kind: keys, id: id, of: of, gone: gone, body: []byte(body)}
	if isTenant {
		t, err := r.tenant()
		if err != nil {
			return "", err
		}
		r, err = tenantRow(t)
		return string(r.body), err
	}
	k, err := r.key()
	if err != nil {
		return "", err
	}
	r, err = keyRow(k)
	return string(r.body), err
}

// Version is that of the tables.
func Version() int { return len(migrations) }

// ReadDeployed reads the body of a row of a version, a route or a number, and gives it as it would be written.
func ReadDeployed(id, of, body string, which uint8) (string, error) {
	r := row{kind: []kind{versions, routes, numbers}[which%3], id: id, of: of, body: []byte(body)}
	s := &tenant.Snapshot{
		Versions: map[tenant.ProviderID][]*tenant.Version{}, Routes: map[tenant.ProviderID]*tenant.Route{}, Numbers: map[tenant.ProviderID]int{},
	}
	if err := r.addDeployed(s); err != nil {
		return "", err
	}
	for _, all := range s.Versions {
		again, err := versionRow(all[0])
		return string(again.body), err
	}
	for _, one := range s.Routes {
		again, err := routeRow(one)
		return string(again.body), err
	}
	for of, number := range s.Numbers {
		r = numberRow(of, number)
	}
	return string(r.body), nil
}
