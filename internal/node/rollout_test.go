package node

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

var notes = tenant.ProviderID{Tenant: "acme", Provider: "notes"}

// A fakeStore has one route, and fails as it is told.
type fakeStore struct {
	snapshot *tenant.Snapshot
	fail     []error // of the next changes
	applied  []tenant.Change
	tries    int
}

func newFakeStore(canary int) *fakeStore {
	return &fakeStore{snapshot: &tenant.Snapshot{
		Generation: 7,
		Versions:   map[tenant.ProviderID][]*tenant.Version{notes: {{Number: 1, State: tenant.StateApproved}, {Number: 2, State: tenant.StateApproved}}},
		Routes:     map[tenant.ProviderID]*tenant.Route{notes: {Tenant: "acme", Provider: "notes", Active: 1, Canary: canary, Share: 10}},
	}}
}

func (f *fakeStore) Snapshot() *tenant.Snapshot { return f.snapshot }

func (f *fakeStore) Apply(_ context.Context, c tenant.Change) (uint64, error) {
	f.tries++
	if len(f.fail) > 0 {
		err := f.fail[0]
		f.fail = f.fail[1:]
		return 0, err
	}
	f.applied = append(f.applied, c)
	return f.snapshot.Generation + 1, nil
}

func TestAVersionThatFailedIsWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore(2)
		f.fail = []error{tenant.ErrUnavailable, tenant.ErrConflict, tenant.ErrUnavailable}
		began := time.Now()
		written, err := takeBack(t.Context(), f, notes, 2, strings.Repeat("é", maxReason))
		if !written || err != nil || f.tries != 4 || time.Since(began) != 3*minWriteWait {
			t.Fatalf("got %v, %v after %d tries and %v", written, err, f.tries, time.Since(began))
		}
		c := f.applied[0]
		route, v := c.SetRoutes[0], c.SetVersions[0]
		if c.Base != 7 || route.Active != 1 || route.Canary != 0 || route.Share != 0 || route.Changer == "" {
			t.Errorf("got base %d and route %+v", c.Base, route)
		}
		if v.Number != 2 || v.State != tenant.StateFailed || len(v.Reason) > maxReason || !strings.HasPrefix(v.Reason, "é") {
			t.Errorf("got version %d, %s for %d bytes", v.Number, v.State, len(v.Reason))
		}
		if before := f.snapshot.Routes[notes]; before.Canary != 2 {
			t.Error("the snapshot was changed")
		}
	})
}

func TestWhatCannotBeWrittenIsGivenUp(t *testing.T) {
	always := make([]error, 1000)
	for i := range always {
		always[i] = tenant.ErrUnavailable
	}
	for name, c := range map[string]struct {
		canary, version int
		fail            []error
		end             time.Duration // of the server
		tries           int
		want            error // nil for none
	}{
		"the canary is out already":   {0, 2, nil, 0, 0, nil},
		"another one is there":        {1, 2, nil, 0, 0, nil},
		"an unknown version":          {3, 3, nil, 0, 0, nil},
		"the store stays unavailable": {2, 2, always, 0, maxWrites, tenant.ErrUnavailable},
		"it refuses":                  {2, 2, []error{tenant.ErrInvalid}, 0, 1, tenant.ErrInvalid},
		"the server ends":             {2, 2, always, time.Second, 4, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.end > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.end)
					defer cancel()
				}
				f := newFakeStore(c.canary)
				f.fail = c.fail
				written, err := takeBack(ctx, f, notes, c.version, "it crashed")
				if written || f.tries != c.tries || !errors.Is(err, c.want) {
					t.Errorf("got %v, %v after %d tries, want %v after %d", written, err, f.tries, c.want, c.tries)
				}
			})
		})
	}
}
