package tenant

import "time"

// An AdminKey is the credential of a person or program that administers the server, other than by its socket. Its text is not kept.
type AdminKey struct {
	ID      string // the part of its text between wra_ and the next _
	Name    string // of who has it
	Role    string // what the key may do: one of package admin's
	Tenant  string // the one tenant that it is for; empty for all
	SHA256  [32]byte
	Created time.Time
	Creator string    // who made it
	Expires time.Time // zero for never
}

// A Secret is a secret of a tenant, which policies of its providers name. Package seal opens it.
type Secret struct {
	Tenant, Name string
	Sealed       []byte // at most MaxSealed bytes
	Changed      time.Time
	Changer      string // who has set it
}

// Bounds of secrets.
const (
	MaxSealed        = 72 << 10 // bytes
	MaxTenantSecrets = 100
)

// A SecretID names a secret of a tenant.
type SecretID struct{ Tenant, Name string }

// String returns the form of the store: TENANT/NAME.
func (id SecretID) String() string { return id.Tenant + "/" + id.Name }

// MarshalText implements [encoding.TextMarshaler].
func (id SecretID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }
