package admin_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/usage"
)

func TestUsageOfTenants(t *testing.T) {
	h := admintest.New(t, acme())
	c := open(t, h)
	h.Usage.Request("acme", usage.OK, 100)
	h.Usage.Request("beta", usage.Limited, 0)
	m := h.Usage.Meter(usage.Key{Tenant: "acme", Provider: "notes", Version: 3}, func() usage.Processes {
		return usage.Processes{Starts: 2, Live: time.Minute, Memory: 1 << 30, Peak: 1 << 25}
	})
	h.Usage.Store("acme", usage.Storage{Modules: 5, KV: 6, Files: 7, Logs: 8})
	m.Call(usage.Failed, 1000, 1500*time.Millisecond, 7)
	m.Close()
	month := time.Now().UTC().Format("2006-01")
	begin, _, err := admin.ParseMonth(month, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	want := []admin.Usage{
		{Tenant: "acme", Begin: begin, OK: 1, Bytes: 100, Stored: &admin.Storage{Modules: 5, KV: 6, Files: 7, Logs: 8}},
		{Tenant: "acme", Provider: "notes", Version: 3, Begin: begin, Failed: 1, Fuel: 1000, CPU: 1.5, Starts: 2, Bytes: 7, Live: 60, Memory: 1 << 30, Peak: 1 << 25},
		{Tenant: "beta", Begin: begin, Limited: 1},
	}
	for tenant, want := range map[string][]admin.Usage{"": want, "acme": want[:2], "gone": {}} {
		got, err := c.Usage(t.Context(), tenant, month, "", "")
		if diff := cmp.Diff(admin.Page[admin.Usage]{Items: want}, got); diff != "" || err != nil {
			t.Errorf("%s: %v, want -, got +:\n%s", tenant, err, diff)
		}
	}
	if got, err := c.Usage(t.Context(), "", "", usage.Hour, ""); err != nil || len(got.Items) != 3 {
		t.Errorf("by hour: %v, %v", got, err)
	}
	if got, err := c.Usage(t.Context(), "", "2001-01", usage.Day, ""); err != nil || len(got.Items) != 0 {
		t.Errorf("of another month: %v, %v", got, err)
	}
	_, err = c.Usage(t.Context(), "", "", "year", "")
	problem(t, err, 400, admin.CodeInvalid)
	_, err = c.Usage(t.Context(), "", "November", "", "")
	problem(t, err, 400, admin.CodeInvalid)
	for _, cursor := range []string{"x", "1/a/b/c", "a/a/b/1", "1/2/3/4/5"} {
		_, err = c.Usage(t.Context(), "", "", "", cursor)
		problem(t, err, 400, admin.CodeInvalid)
	}
}

func TestUsageByPages(t *testing.T) {
	h := admintest.New(t, acme())
	c := open(t, h)
	for i := range 450 {
		m := h.Usage.Meter(usage.Key{Tenant: "acme", Provider: "notes", Version: i}, func() usage.Processes { return usage.Processes{} })
		m.Call(usage.OK, 1, 0, 0)
		m.Close()
	}
	var all []admin.Usage
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		p, err := c.Usage(t.Context(), "acme", "", "", cursor)
		if err != nil || pages > 2 {
			t.Fatalf("page %d: %v", pages, err)
		}
		all, cursor = append(all, p.Items...), p.Next
	}
	for i, u := range all {
		if u.Version != i || u.OK != 1 {
			t.Fatalf("row %d is %+v", i, u)
		}
	}
	if len(all) != 450 {
		t.Errorf("got %d rows", len(all))
	}
}
