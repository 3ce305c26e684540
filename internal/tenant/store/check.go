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
