package admin

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// maxAdminKeys bounds the admin keys of a server.
const maxAdminKeys = 1000

// adminKeyOf returns an admin key as the API has it.
func adminKeyOf(k *tenant.AdminKey, now time.Time) AdminKey {
	key := AdminKey{ID: k.ID, Name: k.Name, Role: Role(k.Role), Tenant: k.Tenant, Created: k.Created, Creator: k.Creator}
	if !k.Expires.IsZero() {
		key.Expires, key.Expired = &k.Expires, !now.Before(k.Expires)
	}
	return key
}

func (s *Server) listAdminKeys(r *http.Request) (answer, error) {
	p, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	snapshot := s.cfg.Host.Snapshot()
	var ids []string
	for id := range snapshot.AdminKeys {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	ids, next := p.cut(ids)
	items, now := []AdminKey{}, time.Now()
	for _, id := range ids {
		items = append(items, adminKeyOf(snapshot.AdminKeys[id], now))
	}
	return ok(Page[AdminKey]{items, next})
}

func (s *Server) createAdminKey(r *http.Request) (answer, error) {
	var asked NewAdminKey
	if err := decode(r, &asked); err != nil {
		return answer{}, err
	}
	if err := tokens.CheckName(asked.Name); err != nil {
		return answer{}, invalid("name: %v", err)
	}
	if err := tenant.CheckAdminRole(string(asked.Role), asked.Tenant); err != nil {
		return answer{}, invalid("%v", err)
	}
	now := time.Now()
	expires, err := expiry(asked.Expires, now)
	if err != nil {
		return answer{}, err
	}
	snapshot := s.cfg.Host.Snapshot()
	if asked.Tenant != "" {
		if err := knownTenant(snapshot, asked.Tenant); err != nil {
			return answer{}, err
		}
	}
	if n := len(snapshot.AdminKeys); n >= maxAdminKeys {
		return answer{}, invalid("there are %d admin keys, which is the most: revoke some", n)
	}
	k := &tenant.AdminKey{
		Name: asked.Name, Role: string(asked.Role), Tenant: asked.Tenant, Created: now.UTC().Truncate(time.Second), Creator: actorOf(r.Context()), Expires: expires,
	}
	var text string
	text, k.ID, k.SHA256 = tokens.NewAdmin()
	if _, err := s.cfg.Host.Apply(r.Context(), tenant.Change{Actor: k.Creator, SetAdminKeys: []*tenant.AdminKey{k}}); err != nil {
		return answer{}, fmt.Errorf("make an admin key: %w", err)
	}
	return answer{status: http.StatusCreated, body: IssuedAdminKey{adminKeyOf(k, now), text}, tag: tagOf(k), location: "/v1/admin-keys/" + k.ID}, nil
}

func (s *Server) revokeAdminKey(r *http.Request) (answer, error) {
	id := r.PathValue("key")
	tag := func(now *tenant.Snapshot) string {
		if now.AdminKeys[id] == nil {
			return ""
		}
		return tagOf(now.AdminKeys[id])
	}
	err := s.change(r, tag, func(now *tenant.Snapshot) error {
		if now.AdminKeys[id] == nil {
			names := make(map[string]string, len(now.AdminKeys))
			for known, k := range now.AdminKeys {
				names[known] = k.Name
			}
			return unknownKey("admin key", id, names)
		}
		_, err := s.cfg.Host.Apply(r.Context(), tenant.Change{Base: now.Generation, Actor: actorOf(r.Context()), RemoveAdminKeys: []string{id}})
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return done()
}
