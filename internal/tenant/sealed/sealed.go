// Package sealed keeps the secrets of tenants: sealed in the store, and opened for the capabilities that use them.
package sealed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/seal"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// Credential is the credential of systemd that has the keys of secrets, if the settings name no file.
const Credential = "wasmres-secrets.key"

// sealedAtOnce bounds the sealed bytes of secrets that one change seals anew. So a change, which is one entry of the ledger, has all
// secrets of most servers.
const sealedAtOnce = 4 << 20

// A Store has the secrets. It is safe for concurrent use.
type Store interface {
	Snapshot() *tenant.Snapshot
	// Apply is that of [tenant.Store].
	Apply(ctx context.Context, c tenant.Change) (generation uint64, err error)
}

// A Keeper seals and opens the secrets of tenants. It is safe for concurrent use.
type Keeper struct {
	store Store
	now   func() time.Time

	file string // of the keys
	// isFixed says that the file is not the server's to write, as a credential.
	isFixed bool

	mu   sync.Mutex                // held while a secret is sealed and stored, so that no key is dropped meanwhile
	keys atomic.Pointer[seal.Keys] // nil for none; changed under mu
}

// Open reads the keys of a file, or, if its name is empty, of the credential of systemd that has them. It is no error if there is no
// such credential: then secrets cannot be set. The store may be opened later than the Keeper, before its other methods are called.
func Open(file string, store Store, now func() time.Time) (*Keeper, error) {
	r := &Keeper{file: file, store: store, now: now}
	read := seal.Read
	if r.file == "" {
		dir := os.Getenv("CREDENTIALS_DIRECTORY")
		if dir == "" {
			return r, nil
		}
		r.file, r.isFixed, read = filepath.Join(dir, Credential), true, seal.ReadCredential
		if _, err := os.Stat(r.file); errors.Is(err, fs.ErrNotExist) {
			return r, nil
		}
	}
	keys, err := read(r.file)
	if err != nil {
		return nil, fmt.Errorf("read the key of secrets: %w", err)
	}
	r.keys.Store(keys)
	return r, nil
}

// purpose is what a secret is sealed for.
func purpose(tenantID, name string) []string { return []string{"wasmres secret", tenantID, name} }

// errNoKey says how to have a key.
var errNoKey = fmt.Errorf("%w: the server has no key for secrets: write one with 'wasmres secret new-key FILE', name it as secrets.key in serve.yaml, "+
	"or load it as the systemd credential %s, and start the server again", tenant.ErrInvalid, Credential)

// SetSecret seals a value, and stores it. base is the generation that the caller has checked; zero is any.
func (r *Keeper) SetSecret(ctx context.Context, actor, tenantID, name string, value []byte, base uint64) (*tenant.Secret, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := r.keys.Load()
	if keys == nil {
		return nil, errNoKey
	}
	sealed, err := keys.Seal(value, purpose(tenantID, name)...)
	if err != nil {
		return nil, err
	}
	s := &tenant.Secret{Tenant: tenantID, Name: name, Sealed: sealed, Changed: r.now().UTC(), Changer: actor}
	_, err = r.store.Apply(ctx, tenant.Change{Base: base, Actor: actor, SetSecrets: []*tenant.Secret{s}})
	return s, err
}

// Secret opens a secret of a tenant.
func (r *Keeper) Secret(tenantID, name string) (secret.Value, error) {
	for {
		keys, s := r.keys.Load(), r.store.Snapshot().Secrets[tenant.SecretID{Tenant: tenantID, Name: name}]
		switch {
		case s == nil:
			return secret.Value{}, fmt.Errorf("the tenant %s has no secret %s: set it with 'wasmres secret set %s %s'", tenantID, name, tenantID, name)
		case keys == nil:
			return secret.Value{}, errNoKey
		}
		value, err := keys.Open(s.Sealed, purpose(tenantID, name)...)
		if err == nil {
			return secret.New(string(value)), nil
		}
		if r.keys.Load() == keys { // else the key was replaced meanwhile
			return secret.Value{}, fmt.Errorf("open the secret %s of the tenant %s: %w", name, tenantID, err)
		}
	}
}

// RotateSecretKey seals all secrets by a new key, and returns how many, and how many keys the operator may remove from the
// credential then. It goes on where an earlier call was ended: at each moment, all keys that
// seal a secret are in the file.
func (r *Keeper) RotateSecretKey(ctx context.Context, actor string) (count, remaining int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := r.keys.Load()
	if keys == nil {
		return 0, 0, errNoKey
	}
	if !r.isFixed && keys.Len() == 1 {
		both := keys.With(seal.New())
		if err := both.Write(r.file); err != nil {
			return 0, 0, fmt.Errorf("%w: write the new key: %w", tenant.ErrUnavailable, err)
		}
		r.keys.Store(both)
		keys = both
	}
	for {
		some, err := r.sealAnew(ctx, keys, actor)
		if err != nil {
			return count, 0, err
		}
		if some == 0 {
			break
		}
		count += some
	}
	if r.isFixed {
		return count, keys.Len() - 1, nil
	}
	first := keys.First()
	if err := first.Write(r.file); err != nil {
		return count, 0, fmt.Errorf("%w: remove the old key: %w", tenant.ErrUnavailable, err)
	}
	r.keys.Store(first)
	return count, 0, nil
}

// sealAnew seals some secrets by the first key that were sealed by another one, and returns how many. The caller holds mu.
func (r *Keeper) sealAnew(ctx context.Context, keys *seal.Keys, actor string) (int, error) {
	now := r.store.Snapshot()
	var old []*tenant.Secret
	for _, s := range now.Secrets {
		if !keys.IsFirst(s.Sealed) {
			old = append(old, s)
		}
	}
	if len(old) == 0 {
		return 0, nil
	}
	slices.SortFunc(old, func(a, b *tenant.Secret) int {
		return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Name, b.Name))
	})
	c := tenant.Change{Base: now.Generation, Actor: actor}
	size := 0
	for _, s := range old {
		if size += len(s.Sealed); size > sealedAtOnce && len(c.SetSecrets) > 0 {
			break
		}
		value, err := keys.Open(s.Sealed, purpose(s.Tenant, s.Name)...)
		if err != nil {
			return 0, fmt.Errorf("%w: seal the secret %s of the tenant %s anew: %w: set or remove it first", tenant.ErrInvalid, s.Name, s.Tenant, err)
		}
		next := *s // set when it was before, so that no provider is opened anew
		if next.Sealed, err = keys.Seal(value, purpose(s.Tenant, s.Name)...); err != nil {
			return 0, err
		}
		c.SetSecrets = append(c.SetSecrets, &next)
	}
	if _, err := r.store.Apply(ctx, c); err != nil && !errors.Is(err, tenant.ErrConflict) {
		return 0, err
	}
	return len(c.SetSecrets), nil // perhaps none of them, after a conflict: the next call sees what has changed
}
