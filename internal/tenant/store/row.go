package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// maxBody bounds the JSON of one object.
const maxBody = 4 << 20

// A kind is a table.
type kind string

const (
	tenants kind = "tenant"
	plans   kind = "plan"
	keys    kind = "key"

	adminKeys kind = "admin_key"
	secrets   kind = "secret"

	versions kind = "version"
	routes   kind = "route"
	numbers  kind = "number"
)

// A sum is the SHA-256 of a row, or the exclusive or of those of several.
type sum [sha256.Size]byte

func (s *sum) toggle(other sum) {
	for i := range s {
		s[i] ^= other[i]
	}
}

// at gives the sum of all rows as the file has it: the generation is in it, unless that is zero.
func (s sum) at(generation uint64) sum {
	if generation == 0 {
		return s
	}
	s.toggle(sha256.Sum256(binary.AppendUvarint([]byte("generation"), generation)))
	return s
}

// A row is one object as the file has it.
type row struct {
	kind     kind
	id       string
	of       string // the owner of a tenant, the tenant of a key
	gone     int64  // of a tenant
	body     []byte
	lastUsed int64 // of a key; not in the sum
}

func (r *row) sum() sum {
	var head []byte
	for _, part := range []string{string(r.kind), r.id, r.of} {
		head = binary.AppendUvarint(head, uint64(len(part)))
		head = append(head, part...)
	}
	head = binary.AppendVarint(head, r.gone)
	return sha256.Sum256(append(head, r.body...))
}

// encode gives the JSON of an object.
func encode(what, id string, v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %s %q: %w", tenant.ErrInvalid, what, id, err)
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("%w: %s %q has %d bytes, at most %d are allowed", tenant.ErrInvalid, what, id, len(body), maxBody)
	}
	return body, nil
}

// decode reads the JSON of an object. A field that this program does not know is an error: it may restrict something.
func decode(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text follows the object")
	}
	return nil
}

func tenantRow(t *tenant.Tenant) (row, error) {
	body, err := encode("tenant", t.ID, t)
	return row{kind: tenants, id: t.ID, of: string(t.Owner), body: body}, err
}

func goneRow(id string, owner tenant.Owner, at time.Time) row {
	return row{kind: tenants, id: id, of: string(owner), gone: at.UnixMilli(), body: []byte{}}
}

func planRow(p *tenant.Plan) (row, error) {
	body, err := encode("plan", p.Name, p)
	return row{kind: plans, id: p.Name, body: body}, err
}

// A keyBody is a key as JSON.
type keyBody struct {
	tenant.Key
	SHA256 string // in hex, instead of that of Key
}

func keyRow(k *tenant.Key) (row, error) {
	b := keyBody{Key: *k, SHA256: hex.EncodeToString(k.SHA256[:])}
	b.LastUsed = time.Time{}
	body, err := encode("key", k.ID, &b)
	return row{kind: keys, id: k.ID, of: k.Tenant, body: body, lastUsed: dayOf(k.LastUsed)}, err
}

// An adminKeyBody is an admin key as JSON.
type adminKeyBody struct {
	tenant.AdminKey
	SHA256 string // in hex, instead of that of AdminKey
}

func adminKeyRow(k *tenant.AdminKey) (row, error) {
	body, err := encode("admin key", k.ID, &adminKeyBody{*k, hex.EncodeToString(k.SHA256[:])})
	return row{kind: adminKeys, id: k.ID, body: body}, err
}

func (r *row) adminKey() (*tenant.AdminKey, error) {
	b := &adminKeyBody{}
	if err := decode(r.body, b); err != nil {
		return nil, err
	}
	sum, err := hex.DecodeString(b.SHA256)
	if err != nil || len(sum) != len(b.AdminKey.SHA256) {
		return nil, errors.New("its SHA-256 is not one")
	}
	k := &b.AdminKey
	if k.SHA256 = [32]byte(sum); k.ID != r.id {
		return nil, errors.New("it is of another key")
	}
	return k, checkAdminKey(k)
}

func secretRow(s *tenant.Secret) (row, error) {
	id := tenant.SecretID{Tenant: s.Tenant, Name: s.Name}.String() // IDs of tenants have no slash
	body, err := encode("secret", id, s)
	return row{kind: secrets, id: id, of: s.Tenant, body: body}, err
}

func (r *row) secret() (*tenant.Secret, error) {
	s := &tenant.Secret{}
	if err := decode(r.body, s); err != nil {
		return nil, err
	}
	if (tenant.SecretID{Tenant: s.Tenant, Name: s.Name}).String() != r.id || s.Tenant != r.of {
		return nil, errors.New("it is of another secret")
	}
	return s, checkSecret(s)
}

// dayOf gives the day of a time, in days since 1970; 0 for never.
func dayOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix() / (24 * 60 * 60)
}

func timeOf(day int64) time.Time {
	if day == 0 {
		return time.Time{}
	}
	return time.Unix(day*24*60*60, 0).UTC()
}

func (r *row) tenant() (*tenant.Tenant, error) {
	t := &tenant.Tenant{}
	if err := decode(r.body, t); err != nil {
		return nil, err
	}
	if t.ID != r.id || string(t.Owner) != r.of {
		return nil, errors.New("it is of another tenant")
	}
	return t, checkTenant(t)
}

func (r *row) plan() (*tenant.Plan, error) {
	p := &tenant.Plan{}
	if err := decode(r.body, p); err != nil {
		return nil, err
	}
	if p.Name != r.id {
		return nil, errors.New("it is of another plan")
	}
	return p, nil
}

func (r *row) key() (*tenant.Key, error) {
	b := &keyBody{}
	if err := decode(r.body, b); err != nil {
		return nil, err
	}
	k := &b.Key
	if len(b.SHA256) != hex.EncodedLen(len(k.SHA256)) {
		return nil, errors.New("its SHA-256 has another length")
	}
	if _, err := hex.Decode(k.SHA256[:], []byte(b.SHA256)); err != nil {
		return nil, err
	}
	if k.ID != r.id || k.Tenant != r.of {
		return nil, errors.New("it is of another key")
	}
	k.LastUsed = timeOf(r.lastUsed)
	return k, checkKey(k)
}
