package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// maxSecret bounds the value of a secret, in bytes.
const maxSecret = 4 << 10

// Secrets keeps the secrets of tenants sealed. It is safe for concurrent use. Errors may be those of [tenant.Store.Apply].
type Secrets interface {
	// SetSecret seals a value, and keeps it. base is the generation that the caller has checked.
	SetSecret(ctx context.Context, actor, tenantID, name string, value []byte, base uint64) (*tenant.Secret, error)
	// RotateSecretKey seals all secrets by a new key, and returns how many, and how many keys the operator may remove then. If it was
	// ended in the middle, it goes on there.
	RotateSecretKey(ctx context.Context, actor string) (sealed, remaining int, err error)
}

// A Secret is a secret of a tenant, without its value, which the API never shows.
type Secret struct {
	Tenant  string    `json:"tenant"`
	Name    string    `json:"name"`
	Changed time.Time `json:"changed"`
	Changer string    `json:"changer,omitempty"`
}

// A NewSecret has the value of a secret: 1 to 4096 bytes.
type NewSecret struct {
	Value string `json:"value"`
}

// A KeyRotation says what the replacement of the key of secrets has done.
type KeyRotation struct {
	Sealed    int `json:"sealed"`              // how many secrets were sealed anew
	Remaining int `json:"remaining,omitempty"` // keys that the operator may remove from the credential now
}

func secretOf(s *tenant.Secret) Secret { return Secret{s.Tenant, s.Name, s.Changed, s.Changer} }

func (s *Server) listSecrets(r *http.Request) (answer, error) {
	p, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	now, id := s.cfg.Host.Snapshot(), r.PathValue("tenant")
	if err := knownTenant(now, id); err != nil {
		return answer{}, err
	}
	names, next := p.cut(secretNames(now, id))
	items := []Secret{}
	for _, name := range names {
		items = append(items, secretOf(now.Secrets[tenant.SecretID{Tenant: id, Name: name}]))
	}
	return ok(Page[Secret]{items, next})
}

func secretNames(now *tenant.Snapshot, tenantID string) (names []string) {
	for id := range now.Secrets {
		if id.Tenant == tenantID {
			names = append(names, id.Name)
		}
	}
	slices.Sort(names)
	return names
}

// tagOfSecret returns the tag of a secret, which a new key does not change.
func tagOfSecret(id tenant.SecretID) func(*tenant.Snapshot) string {
	return func(now *tenant.Snapshot) string {
		if now.Secrets[id] == nil {
			return ""
		}
		return tagOf(secretOf(now.Secrets[id]))
	}
}

func (s *Server) putSecret(r *http.Request) (answer, error) {
	var asked NewSecret
	if err := decode(r, &asked); err != nil {
		return answer{}, err
	}
	id := tenant.SecretID{Tenant: r.PathValue("tenant"), Name: r.PathValue("secret")}
	switch {
	case !secret.ValidName(id.Name):
		return answer{}, invalid("%q is not the name of a secret: a name has letters, digits, \"_\", \"-\" and \".\", at most 64", strict.Clip(id.Name))
	case asked.Value == "" || len(asked.Value) > maxSecret:
		return answer{}, invalid("value: it has %d bytes, and must have from 1 to %d", len(asked.Value), maxSecret)
	case strings.ContainsRune(asked.Value, '\ufffd'):
		return answer{}, invalid("value: it is not UTF-8")
	}
	var made *tenant.Secret
	status := http.StatusOK
	err := s.change(r, tagOfSecret(id), func(now *tenant.Snapshot) (err error) {
		if err := knownTenant(now, id.Tenant); err != nil {
			return err
		}
		if now.Tenants[id.Tenant] == nil {
			return invalid("tenant %q cannot have secrets before its files are right: %s", id.Tenant, now.Problems[id.Tenant])
		}
		if status = http.StatusOK; now.Secrets[id] == nil {
			status = http.StatusCreated
		}
		made, err = s.cfg.Secrets.SetSecret(r.Context(), actorOf(r.Context()), id.Tenant, id.Name, []byte(asked.Value), now.Generation)
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return answer{status: status, body: secretOf(made), tag: tagOf(secretOf(made)), location: "/v1/tenants/" + id.Tenant + "/secrets/" + id.Name}, nil
}

func (s *Server) removeSecret(r *http.Request) (answer, error) {
	id := tenant.SecretID{Tenant: r.PathValue("tenant"), Name: r.PathValue("secret")}
	err := s.change(r, tagOfSecret(id), func(now *tenant.Snapshot) error {
		if err := knownTenant(now, id.Tenant); err != nil {
			return err
		}
		if now.Secrets[id] == nil {
			p := problem(http.StatusNotFound, CodeNoSecret, "tenant %s has no secret %q", id.Tenant, strict.Clip(id.Name))
			p.near(id.Name, secretNames(now, id.Tenant))
			return p
		}
		_, err := s.cfg.Host.Apply(r.Context(), tenant.Change{Base: now.Generation, Actor: actorOf(r.Context()), RemoveSecrets: []tenant.SecretID{id}})
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return done()
}

func (s *Server) rotateSecretKey(r *http.Request) (answer, error) {
	count, remaining, err := s.cfg.Secrets.RotateSecretKey(r.Context(), actorOf(r.Context()))
	if err != nil {
		return answer{}, err
	}
	return ok(KeyRotation{count, remaining})
}
