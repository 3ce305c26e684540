package admin_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/tenant"
)

// Sessions come by pages, sorted by their beginning, those of one tenant alone.
func TestSessions(t *testing.T) {
	h := admintest.New(t, acme(), &tenant.Tenant{ID: "beta"})
	c := open(t, h).WithPages(2)
	at := time.Date(2026, 11, 29, 1, 0, 0, 0, time.UTC)
	want := []admin.Session{
		{ID: "ZZZZZZZZ", Revision: "2025-06-18", ClientName: "editor", ClientVersion: "1.2", Principal: "ada", Began: at, LastRequest: at.Add(time.Hour), Streams: 1},
		{ID: "AAAAAAAA", Revision: "2024-11-05", Began: at.Add(time.Nanosecond), LastRequest: at.Add(time.Second)},
		{ID: "BBBBBBBB", Revision: "2024-11-05", Began: at.Add(time.Nanosecond), LastRequest: at.Add(time.Second)}, // in the same moment
		{ID: "CCCCCCCC", Revision: "2025-11-25", Began: at.Add(time.Minute), LastRequest: at.Add(time.Minute)},
	}
	h.SetSessions("acme", want[3], want[1], want[0], want[2])
	var all []admin.Session
	for cursor, pages := "", 1; ; pages++ {
		page, err := c.Sessions(t.Context(), "acme", cursor)
		if err != nil || pages > 2 {
			t.Fatalf("page %d: %v", pages, err)
		}
		if all, cursor = append(all, page.Items...), page.Next; cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	none := admin.Page[admin.Session]{Items: []admin.Session{}}
	for tenantID, cursor := range map[string]string{"beta": "", "acme": "z"} {
		if page, err := c.Sessions(t.Context(), tenantID, cursor); err != nil || !cmp.Equal(page, none) {
			t.Errorf("%s: got %+v, %v", tenantID, page, err)
		}
	}
	_, err := c.Sessions(t.Context(), "acm", "")
	problem(t, err, 404, admin.CodeNoTenant)
}
