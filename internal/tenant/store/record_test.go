package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/store"
	"github.com/wasmres/wasmres/internal/tenant/storetest"
)

// A record has the generations of changes. Its methods are called one at a time.
type record struct {
	generations []uint64
	undone      int
	fail        error
}

type recordKey struct{}

func (r *record) Record(ctx context.Context, c *tenant.Change, before, after *tenant.Snapshot) error {
	if after.Generation != before.Generation+1 || c.Actor != ctx.Value(recordKey{}) || ctx.Err() != nil {
		return errors.New("the record is not that of the change")
	}
	if r.fail != nil {
		return r.fail
	}
	r.generations = append(r.generations, after.Generation)
	return nil
}

func (r *record) Undo(before *tenant.Snapshot, err error) {
	r.generations = r.generations[:len(r.generations)-1]
	r.undone++
}

func TestAChangeIsRecordedOrNotMade(t *testing.T) {
	r := &record{}
	var took []time.Duration
	s, err := store.Open(t.Context(), store.Config{
		Dir: private(t), Record: r, Committed: func(d time.Duration) { took = append(took, d) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.WithValue(t.Context(), recordKey{}, "files")
	change := func(ids ...string) error {
		c := tenant.Change{Actor: "files", Owner: tenant.OwnerFiles}
		for _, id := range ids {
			c.SetTenants = append(c.SetTenants, storetest.Tenant(id))
		}
		_, err := s.Apply(ctx, c)
		return err
	}
	if err := errors.Join(change("one"), change("one"), change()); err != nil { // the last two have no effect
		t.Fatal(err)
	}
	r.fail = errors.New("the disk is full")
	if err := change("two"); !errors.Is(err, tenant.ErrUnavailable) || !errors.Is(err, r.fail) {
		t.Errorf("got %v", err)
	}
	if got := s.Snapshot(); got.Generation != 1 || got.Tenants["two"] != nil {
		t.Errorf("a change that was not recorded is in force: %+v", got)
	}
	r.fail = nil
	if err := change("two"); err != nil {
		t.Fatal(err)
	}
	if got := s.Snapshot(); got.Tenants["two"] == nil || !slices.Equal(r.generations, []uint64{1, 2}) || r.undone != 0 {
		t.Errorf("got %+v, recorded %v", got, r.generations)
	}
	if len(took) != 2 || slices.Min(took) <= 0 {
		t.Errorf("the two changes took %v", took)
	}
}
