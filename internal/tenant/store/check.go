package store

import (
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/internal/tenant"
)

const maxName = 256 // bytes of the ID of a key, or the name of a plan

func checkTenant(t *tenant.Tenant) error {
	switch {
	case !tenant.IsID(t.ID):
		return fmt.Errorf("%.70q is not the ID of a tenant: an ID has lower-case letters, digits and dashes, at most 63", t.ID)
	case t.Owner != tenant.OwnerFiles && t.Owner != tenant.OwnerAPI:
		return fmt.Errorf("tenant %s has the owner %.20q, which is not one", t.ID, t.Owner)
	}
	return nil
}

func checkKey(k *tenant.Key) error {
	switch {
	case k.ID == "" || len(k.ID) > maxName:
		return errors.New("the ID of a key is empty or too long")
	case k.Name == "" || len(k.Name) > maxName:
		return fmt.Errorf("key %s has no name, or one that is too long", k.ID)
	case k.SHA256 == [32]byte{}:
		return fmt.Errorf("key %s has no hash", k.ID)
	}
	return nil
}

func checkPlan(p *tenant.Plan) error {
	if p.Name == "" || len(p.Name) > maxName {
		return errors.New("the name of a plan is empty or too long")
	}
	return nil
}

func checkAdminKey(k *tenant.AdminKey) error {
	switch {
	case k.ID == "" || len(k.ID) > maxName:
		return errors.New("the ID of an admin key is empty or too long")
	case k.Name == "" || len(k.Name) > maxName || k.Role == "" || len(k.Role) > maxName:
		return fmt.Errorf("admin key %s has no name or no role, or one that is too long", k.ID)
	case k.Tenant != "" && !tenant.IsID(k.Tenant):
		return fmt.Errorf("admin key %s is for %.70q, which is not the ID of a tenant", k.ID, k.Tenant)
	case k.SHA256 == [32]byte{}:
		return fmt.Errorf("admin key %s has no hash", k.ID)
	}
	return nil
}

func checkSecret(s *tenant.Secret) error {
	switch {
	case !tenant.IsID(s.Tenant) || s.Name == "" || len(s.Name) > maxName:
		return fmt.Errorf("a secret is of %.70q, or its name is empty or too long", s.Tenant)
	case len(s.Sealed) == 0 || len(s.Sealed) > tenant.MaxSealed:
		return fmt.Errorf("secret %s of tenant %s has %d bytes, at most %d are allowed", s.Name, s.Tenant, len(s.Sealed), tenant.MaxSealed)
	}
	return nil
}
