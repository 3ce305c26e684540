package tenant

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Errors of [Store.Apply].
var (
	// ErrConflict says that something else has changed since Change.Base.
	ErrConflict = errors.New("the configuration has changed meanwhile: read it again")
	// ErrOwned says that an object belongs to another owner.
	ErrOwned = errors.New("the object has another owner")
	// ErrInvalid says that a change contradicts itself or the present state, as a host name that another tenant has.
	ErrInvalid = errors.New("the change is not valid")
	// ErrUnavailable says that a change could not be written, as when the disk is full. It is not in force, and may be made
	// again. The present state can still be read.
	ErrUnavailable = errors.New("the change could not be written")
	// ErrTooMany says that a bound of the Store is reached.
	ErrTooMany = errors.New("there are too many")
	// ErrClosed says that the Store was closed.
	ErrClosed = errors.New("the store is closed")
)

// A Store keeps what was decided. It is safe for concurrent use. The caller closes it.
type Store interface {
	// Snapshot returns the present state, from memory.
	Snapshot() *Snapshot
	// Apply makes a change as a whole, and returns when it is on disk. The Store keeps the values of c, which are not to be
	// changed any more; a tenant equal to the present one is left as it is, with its pointer. A change without effect
	// succeeds with the present generation. The error may be one of those above. ctx bounds the wait for other changes; a
	// change that has begun is ended first.
	Apply(ctx context.Context, c Change) (generation uint64, err error)
	// SetLastUsed notes on which days keys were used, by their IDs. It leaves out unknown keys and days before those known.
	// It changes Key.LastUsed, but neither the generation nor what Watch yields.
	SetLastUsed(ctx context.Context, days map[string]time.Time) error
	// Watch yields the present Snapshot, and then the newest one after each change, until ctx ends or the Store is closed. It
	// may skip some.
	Watch(ctx context.Context) iter.Seq[*Snapshot]
	Close() error
}

// A Change is a set of objects to set and to remove.
type Change struct {
	Base  uint64 // the generation that it was made for; zero for any
	Actor string // who makes it, for the operator: as in "files", "reload" or "uid 1000"
	Owner Owner  // of the tenants in it

	SetTenants []*Tenant
	// RemoveTenants are IDs. A removed tenant is in Snapshot.Gone for 30 days, in which no other owner may take its ID.
	RemoveTenants []string
	// SetProblems replaces Snapshot.Problems; nil leaves them.
	SetProblems map[string]string
	// SetPlans replaces all plans of files; nil leaves them. There is always one named default.
	SetPlans []*Plan
	// PutPlans and RemovePlans are plans of the API, by name.
	PutPlans    []*Plan
	RemovePlans []string
	// Adopt are IDs of tenants in SetTenants that had another owner before.
	Adopt []string

	// SetKeys are of tenants that there are, or that c sets. The keys of a removed tenant remain until its ID is free again.
	SetKeys    []*Key
	RemoveKeys []string // IDs

	// SetVersions and SetRoutes are of providers that there are. A version that there is keeps its module; a new one has a
	// number above all of Snapshot.Numbers. Routes name versions that are approved, or have failed. Versions and routes of a
	// removed provider remain until an operator removes them, or the ID of their tenant is free again.
	SetVersions    []*Version
	RemoveVersions []*Version // of which the names and the number count; none may be in a route
	SetRoutes      []*Route

	SetAdminKeys    []*AdminKey
	RemoveAdminKeys []string // IDs

	// SetSecrets are of tenants that there are. The secrets of a removed tenant remain until its ID is free again.
	SetSecrets    []*Secret
	RemoveSecrets []SecretID
}
