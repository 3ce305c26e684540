package tenant

import (
	"context"
	"errors"
	"iter"
)

// Errors of [Store.Apply].
var (
	// ErrConflict says that something else has changed since Change.Base.
	ErrConflict = errors.New("the configuration has changed meanwhile: read it again")
	// ErrOwned says that an object belongs to another owner.
	ErrOwned = errors.New("the object has another owner")
)

// A Store keeps what was decided. It is safe for concurrent use. The caller closes it.
type Store interface {
	// Snapshot returns the present state, from memory.
	Snapshot() *Snapshot
	// Apply makes a change as a whole, and returns when it is on disk. The error may be ErrConflict or ErrOwned.
	Apply(ctx context.Context, c Change) (generation uint64, err error)
	// Watch yields the present Snapshot, and then the newest one after each change, until ctx ends. It may skip some.
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
	// SetPlans replaces all plans; nil leaves them.
	SetPlans []*Plan

	SetKeys    []*Key
	RemoveKeys []string // IDs
}
