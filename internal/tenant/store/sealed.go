package store

import (
	"fmt"

	"github.com/wasmres/wasmres/internal/tenant"
)

// prepareSealed checks the admin keys and secrets of a change by themselves.
func (p *prepared) prepareSealed(once func(what, id string) error) error {
	for _, k := range p.SetAdminKeys {
		if err := checkAdminKey(k); err != nil {
			return fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
		}
		if err := add(&p.adminKeys, once, adminKeyRow, k); err != nil {
			return err
		}
	}
	for _, id := range p.RemoveAdminKeys {
		if err := once(string(adminKeys), id); err != nil {
			return err
		}
	}
	for _, s := range p.SetSecrets {
		if err := checkSecret(s); err != nil {
			return fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
		}
		if err := add(&p.secrets, once, secretRow, s); err != nil {
			return err
		}
	}
	for _, id := range p.RemoveSecrets {
		if err := once(string(secrets), id.String()); err != nil {
			return err
		}
	}
	return nil
}

// applySealed makes the changes of admin keys and secrets.
func (d *draft) applySealed(p *prepared) error {
	s := d.next.snapshot
	for _, id := range p.RemoveAdminKeys {
		d.removeAdminKey(id)
	}
	for i, k := range p.SetAdminKeys {
		if k.Tenant != "" && s.Tenants[k.Tenant] == nil {
			return fmt.Errorf("%w: admin key %s is for tenant %.70q, which does not exist", tenant.ErrInvalid, k.ID, k.Tenant)
		}
		if old := s.AdminKeys[k.ID]; old != nil && isSame(old, adminKeyRow, &p.adminKeys[i]) {
			continue
		}
		own(&s.AdminKeys, &d.changesAdminKeys)
		s.AdminKeys[k.ID] = k
		d.put = append(d.put, p.adminKeys[i])
	}
	for _, id := range p.RemoveSecrets {
		d.removeSecret(id)
	}
	for i, one := range p.SetSecrets {
		id := tenant.SecretID{Tenant: one.Tenant, Name: one.Name}
		if s.Tenants[one.Tenant] == nil && s.Secrets[id] == nil { // that of a removed tenant may be sealed anew
			return fmt.Errorf("%w: secret %s is of tenant %.70q, which does not exist", tenant.ErrInvalid, one.Name, one.Tenant)
		}
		if old := s.Secrets[id]; old != nil && isSame(old, secretRow, &p.secrets[i]) {
			continue
		}
		own(&s.Secrets, &d.changesSecrets)
		s.Secrets[id] = one
		d.put = append(d.put, p.secrets[i])
	}
	return d.checkSecretCount(p.SetSecrets)
}

// checkSecretCount refuses more secrets of a tenant than it may have.
func (d *draft) checkSecretCount(set []*tenant.Secret) error {
	if len(set) == 0 {
		return nil
	}
	count := map[string]int{}
	for id := range d.next.snapshot.Secrets {
		count[id.Tenant]++
	}
	for _, one := range set {
		if n := count[one.Tenant]; n > tenant.MaxTenantSecrets {
			return fmt.Errorf("%w: tenant %s would have %d secrets, at most %d are allowed", tenant.ErrInvalid, one.Tenant, n, tenant.MaxTenantSecrets)
		}
	}
	return nil
}

func (d *draft) removeAdminKey(id string) {
	if d.next.snapshot.AdminKeys[id] == nil {
		return
	}
	own(&d.next.snapshot.AdminKeys, &d.changesAdminKeys)
	delete(d.next.snapshot.AdminKeys, id)
	d.drop = append(d.drop, row{kind: adminKeys, id: id})
}

func (d *draft) removeSecret(id tenant.SecretID) {
	if d.next.snapshot.Secrets[id] == nil {
		return
	}
	own(&d.next.snapshot.Secrets, &d.changesSecrets)
	delete(d.next.snapshot.Secrets, id)
	d.drop = append(d.drop, row{kind: secrets, id: id.String()})
}

// removeSealedOf removes the admin keys and secrets of tenants.
func (d *draft) removeSealedOf(gone map[string]bool) {
	for id, k := range d.next.snapshot.AdminKeys {
		if gone[k.Tenant] {
			d.removeAdminKey(id)
		}
	}
	for id := range d.next.snapshot.Secrets {
		if gone[id.Tenant] {
			d.removeSecret(id)
		}
	}
}
