package node

import (
	"context"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/keys"
)

// Create implements [admin.Keys].
func (n *Node) Create(ctx context.Context, actor string, spec admin.KeySpec) (made *tenant.Key, text string, err error) {
	t := n.store.Snapshot().Tenants[spec.Tenant]
	if t == nil {
		return nil, "", fmt.Errorf("no tenant %q", spec.Tenant)
	}
	o := keys.Options{URIs: spec.URIs, Networks: spec.Networks, Never: spec.Expires.IsZero(), Creator: actor}
	if !o.Never {
		o.Life = time.Until(spec.Expires)
	}
	if text, made, err = keys.New(t, spec.Name, spec.Roles, o); err != nil {
		return nil, "", err
	}
	if _, err = n.Apply(ctx, tenant.Change{Actor: actor, SetKeys: []*tenant.Key{made}}); err != nil {
		return nil, "", err
	}
	n.cfg.Logger.Info("key made", keyAttrs(made, actor)...)
	return made, text, nil
}

// Revoke implements [admin.Keys].
func (n *Node) Revoke(ctx context.Context, actor, id string, base uint64) error {
	old := n.store.Snapshot().Keys[id]
	_, err := n.Apply(ctx, tenant.Change{Base: base, Actor: actor, RemoveKeys: []string{id}})
	if err == nil && old != nil {
		n.cfg.Logger.Info("key revoked", keyAttrs(old, actor)...)
	}
	return err
}

// Rotate implements [admin.Keys].
func (n *Node) Rotate(ctx context.Context, actor, id string, grace time.Duration, base uint64) (made *tenant.Key, text string, err error) {
	old := n.store.Snapshot().Keys[id]
	if old == nil {
		return nil, "", fmt.Errorf("no key %q", id)
	}
	if grace == 0 {
		grace = -1 // keys.Rotate takes zero for its default
	}
	text, made, ending := keys.Rotate(old, grace, actor)
	change := tenant.Change{Base: base, Actor: actor, SetKeys: []*tenant.Key{made, ending}}
	if _, err = n.Apply(ctx, change); err != nil {
		return nil, "", err
	}
	n.cfg.Logger.Info("key replaced", append(keyAttrs(made, actor), "old", old.ID)...)
	return made, text, nil
}

// keyAttrs are what the log says of a change of a key.
func keyAttrs(k *tenant.Key, actor string) []any {
	return []any{"tenant", k.Tenant, "key", k.ID, "name", k.Name, "actor", actor}
}
