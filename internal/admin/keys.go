package admin

import (
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// Bounds of keys.
const (
	maxPatterns   = 64 // roles, URIs and networks of a key, each
	maxTenantKeys = 1000
	defaultLife   = 90 * 24 * time.Hour
	maxLife       = 100 * 366 * 24 * time.Hour
	maxGrace      = 30 * 24 * time.Hour
)

// A KeySpec is what a key may do. It was checked.
type KeySpec struct {
	Tenant, Name string
	Roles, URIs  []string
	Networks     []netip.Prefix
	Expires      time.Time // zero for never
}

// keysByTenant returns the keys of each tenant, in no order.
func keysByTenant(snapshot *tenant.Snapshot) map[string][]*tenant.Key {
	by := map[string][]*tenant.Key{}
	for _, k := range snapshot.Keys {
		by[k.Tenant] = append(by[k.Tenant], k)
	}
	return by
}

// listKeys answers the keys of a tenant, or of all.
func (s *Server) listKeys(r *http.Request) (answer, error) {
	p, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	snapshot, id := s.cfg.Host.Snapshot(), r.PathValue("tenant")
	if id != "" {
		if err := knownTenant(snapshot, id); err != nil {
			return answer{}, err
		}
	}
	c := callerOf(r.Context())
	var names []string
	for _, k := range snapshot.Keys {
		if (id == "" || k.Tenant == id) && c.sees(k.Tenant) {
			names = append(names, keyCursor(k))
		}
	}
	slices.Sort(names)
	names, next := p.cut(names)
	items, now := []Key{}, time.Now()
	for _, name := range names {
		items = append(items, keyOf(snapshot.Keys[name[strings.IndexByte(name, '/')+1:]], now))
	}
	return ok(Page[Key]{items, next})
}

// keyCursor orders keys by tenant. IDs of tenants and keys have no slash.
func keyCursor(k *tenant.Key) string { return k.Tenant + "/" + k.ID }

// keyOf returns a key as the API has it.
func keyOf(k *tenant.Key, now time.Time) Key {
	key := Key{
		ID: k.ID, Tenant: k.Tenant, Name: k.Name, Roles: notNil(k.Roles), URIs: k.URIs, Created: k.Created, Creator: k.Creator,
	}
	for _, n := range k.Networks {
		key.Networks = append(key.Networks, n.String())
	}
	if !k.Expires.IsZero() {
		key.Expires, key.Expired = &k.Expires, !k.Expires.After(now)
	}
	if !k.LastUsed.IsZero() {
		key.LastUsed = k.LastUsed.UTC().Format(time.DateOnly)
	}
	return key
}

func (s *Server) createKey(r *http.Request) (answer, error) {
	var asked NewKey
	if err := decode(r, &asked); err != nil {
		return answer{}, err
	}
	snapshot, id := s.cfg.Host.Snapshot(), r.PathValue("tenant")
	if err := knownTenant(snapshot, id); err != nil {
		return answer{}, err
	}
	t := snapshot.Tenants[id]
	if t == nil {
		return answer{}, invalid("tenant %q cannot have keys before its files are right: %s", id, snapshot.Problems[id])
	}
	if n := len(keysByTenant(snapshot)[id]); n >= maxTenantKeys {
		return answer{}, invalid("tenant %q has %d keys, which is the most: revoke some", id, n)
	}
	spec, err := asked.check(t, time.Now())
	if err != nil {
		return answer{}, err
	}
	made, text, err := s.cfg.Keys.Create(r.Context(), actorOf(r.Context()), spec)
	if err != nil {
		return answer{}, fmt.Errorf("make a key of tenant %q: %w", id, err)
	}
	return answer{status: http.StatusCreated, body: IssuedKey{keyOf(made, time.Now()), text}, tag: tagOfKey(made), location: "/v1/keys/" + made.ID}, nil
}

// tagOfKey returns the tag of a key, which its use does not change.
func tagOfKey(k *tenant.Key) string {
	if k == nil {
		return ""
	}
	without := *k
	without.LastUsed = time.Time{}
	return tagOf(&without)
}

// check reads a NewKey for a tenant.
func (k *NewKey) check(t *tenant.Tenant, now time.Time) (KeySpec, error) {
	spec := KeySpec{Tenant: t.ID, Name: k.Name, Roles: k.Roles, URIs: k.URIs}
	if err := tokens.CheckName(k.Name); err != nil {
		return KeySpec{}, invalid("name: %v", err)
	}
	if max(len(k.Roles), len(k.URIs), len(k.Networks)) > maxPatterns {
		return KeySpec{}, invalid("a key has at most %d roles, URIs and networks each", maxPatterns)
	}
	known := roleNames(t)
	if len(k.Roles) == 0 {
		return KeySpec{}, invalid("a role is missing: %s", offer(t.ID, known))
	}
	for _, role := range k.Roles {
		if !slices.Contains(known, role) {
			p := &Problem{Status: http.StatusBadRequest, Code: CodeInvalid, Detail: fmt.Sprintf("tenant %s has no role %q", t.ID, strict.Clip(role))}
			if p.near(role, known); p.Nearest == "" {
				p.Detail += ": " + offer(t.ID, known)
			}
			return KeySpec{}, p
		}
	}
	for _, uri := range k.URIs {
		if _, err := auth.ParsePattern(uri); err != nil {
			return KeySpec{}, invalid("uris: %v", err)
		}
	}
	for _, n := range k.Networks {
		prefix, err := tenant.ParseNetwork(n)
		if err != nil {
			return KeySpec{}, invalid("networks: %q is not a network: write it like 192.0.2.0/24 or 2001:db8::1", strict.Clip(n))
		}
		spec.Networks = append(spec.Networks, prefix)
	}
	var err error
	spec.Expires, err = expiry(k.Expires, now)
	return spec, err
}

// offer says which roles a tenant has.
func offer(id string, roles []string) string {
	if len(roles) == 0 {
		return fmt.Sprintf("tenant %s has no roles: write some into its file", id)
	}
	return fmt.Sprintf("tenant %s has %s", id, joined(roles))
}

// joined lists at most ten words.
func joined(words []string) (list string) {
	for i, w := range words[:min(len(words), 10)] {
		if i > 0 {
			list += ", "
		}
		list += w
	}
	if len(words) > 10 {
		list += fmt.Sprintf(" and %d more", len(words)-10)
	}
	return list
}

// expiry reads the end of a new key; zero is never.
func expiry(s string, now time.Time) (time.Time, error) {
	switch s {
	case "":
		return now.Add(defaultLife).UTC().Truncate(time.Second), nil
	case Never:
		return time.Time{}, nil
	}
	end, err := time.Parse(time.RFC3339, s)
	if err != nil || !end.After(now) || end.Sub(now) > maxLife {
		return time.Time{}, invalid("expires %s: it must be a time to come within 100 years, as in %s, or %s", clip(s), now.Add(defaultLife).UTC().Format(time.RFC3339), Never)
	}
	return end.UTC(), nil
}

// knownKey says that there is no such key, and which one the caller may mean. Those of tenants that the caller may not see are
// as if they were not there.
func knownKey(c caller, snapshot *tenant.Snapshot, id string) error {
	if visibleKey(c, snapshot, id) != nil {
		return nil
	}
	names := make(map[string]string, len(snapshot.Keys))
	for known, k := range snapshot.Keys {
		if c.sees(k.Tenant) {
			names[known] = k.Name
		}
	}
	return unknownKey("key", id, names)
}

// unknownKey says that there is no key, and which one of those with names, by ID, the caller may mean: the one with that name, or the
// one with the nearest ID.
func unknownKey(kind, id string, names map[string]string) error {
	p := problem(http.StatusNotFound, CodeNoKey, "no %s %q", kind, strict.Clip(id))
	known := slices.Sorted(maps.Keys(names))
	for _, one := range known {
		if names[one] == id {
			p.Nearest = one
			p.Detail += fmt.Sprintf(": the key with this name has the ID %s", one)
			return p
		}
	}
	p.near(id, known)
	return p
}

func (s *Server) revokeKey(r *http.Request) (answer, error) {
	id, c := r.PathValue("key"), callerOf(r.Context())
	err := s.changeKey(r, id, func(now *tenant.Snapshot) error { return s.cfg.Keys.Revoke(r.Context(), c.name, id, now.Generation) })
	if err != nil {
		return answer{}, fmt.Errorf("revoke key %s: %w", clip(id), err)
	}
	return done()
}

// changeKey makes a write of a key that the caller may see.
func (s *Server) changeKey(r *http.Request, id string, do func(*tenant.Snapshot) error) error {
	return s.change(r, func(now *tenant.Snapshot) string { return tagOfKey(visibleKey(callerOf(r.Context()), now, id)) }, func(now *tenant.Snapshot) error {
		if err := knownKey(callerOf(r.Context()), now, id); err != nil {
			return err
		}
		return do(now)
	})
}

func (s *Server) rotateKey(r *http.Request) (answer, error) {
	var asked Rotation
	if err := decode(r, &asked); err != nil {
		return answer{}, err
	}
	if asked.GraceSeconds < 0 || asked.GraceSeconds > int64(maxGrace/time.Second) {
		return answer{}, invalid("graceSeconds %d: it must be from 0 to %d, which are 30 days", asked.GraceSeconds, int64(maxGrace/time.Second))
	}
	id, grace := r.PathValue("key"), time.Duration(asked.GraceSeconds)*time.Second
	var made *tenant.Key
	var text string
	err := s.changeKey(r, id, func(now *tenant.Snapshot) (err error) {
		made, text, err = s.cfg.Keys.Rotate(r.Context(), actorOf(r.Context()), id, grace, now.Generation)
		return err
	})
	if err != nil {
		return answer{}, fmt.Errorf("rotate key %s: %w", clip(id), err)
	}
	return answer{status: http.StatusCreated, body: IssuedKey{keyOf(made, time.Now()), text}, tag: tagOfKey(made), location: "/v1/keys/" + made.ID}, nil
}

// visibleKey returns a key that a caller may see; nil for none.
func visibleKey(c caller, snapshot *tenant.Snapshot, id string) *tenant.Key {
	if k := snapshot.Keys[id]; k != nil && c.sees(k.Tenant) {
		return k
	}
	return nil
}
