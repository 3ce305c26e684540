package tenant_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

func hosts(names ...string) string { return "hosts: [" + strings.Join(names, ", ") + "]\n" }

// A host stays with the tenant that has it. Of two new ones the first gets it. Each step writes files, an empty one being
// removed, and says who has problems then, and who has which host.
func TestHostsBelongToOneTenant(t *testing.T) {
	w := newWorld(t, nil)
	for _, step := range []struct {
		what     string
		files    map[string]string
		problems []string
		hosts    map[string]string
	}{
		{"the first by ID gets it", map[string]string{"b": hosts("x.a"), "c": hosts("x.a")}, []string{"c"}, map[string]string{"x.a": "b"}},
		{"who has it keeps it", map[string]string{"a": hosts("x.a", "y.a")}, []string{"a", "c"}, map[string]string{"x.a": "b"}},
		{"who is first gets what is left", map[string]string{"b": hosts()}, []string{"c"}, map[string]string{"x.a": "a", "y.a": "a"}},
		{"a tenant with an error keeps it", map[string]string{"a": "x", "b": hosts("x.a")}, []string{"a", "b", "c"}, map[string]string{"x.a": "a", "y.a": "a"}},
		{"two change places", map[string]string{"a": hosts("x.a"), "b": hosts("z.a"), "c": ""}, nil, map[string]string{"x.a": "a", "z.a": "b"}},
		{"they have changed places", map[string]string{"a": hosts("z.a"), "b": hosts("x.a")}, nil, map[string]string{"x.a": "b", "z.a": "a"}},
		{
			"who loses keeps what it had, so that others lose", map[string]string{"a": hosts("y.a"), "b": hosts("x.a", "q.a"), "c": hosts("z.a"), "d": hosts("x.a")},
			[]string{"d"}, map[string]string{"y.a": "a", "x.a": "b", "q.a": "b", "z.a": "c"},
		},
		{
			"in a row", map[string]string{"a": hosts("x.a"), "b": hosts("z.a"), "c": "x", "d": ""},
			[]string{"a", "b", "c"}, map[string]string{"y.a": "a", "x.a": "b", "q.a": "b", "z.a": "c"},
		},
		{"who is gone frees it", map[string]string{"b": "", "c": ""}, nil, map[string]string{"x.a": "a"}},
	} {
		for id, text := range step.files {
			if text == "" {
				w.remove("tenants/" + id + ".yaml")
				continue
			}
			write(t, w.dir, map[string]string{"tenants/" + id + ".yaml": text})
		}
		r := w.read() // apply panics if two tenants have a host
		if got := slices.Sorted(maps.Keys(r.Problems)); !slices.Equal(got, step.problems) {
			t.Fatalf("%s: got problems %v, want %v", step.what, r.Problems, step.problems)
		}
		got := map[string]string{}
		for host, of := range w.snapshot.Hosts {
			got[host] = of.ID
		}
		if !maps.Equal(got, step.hosts) {
			t.Fatalf("%s: got %v, want %v", step.what, got, step.hosts)
		}
	}
}

// Whatever tenants claim, no host has two.
func TestHostsNeverHaveTwoTenants(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w := newWorld(t, nil)
	for range 60 {
		files := map[string]string{}
		for id := range strings.SplitSeq("a b c d e", " ") {
			text := "not a tenant"
			if random.IntN(4) > 0 {
				names := []string{}
				for name := range strings.SplitSeq("v.a w.a x.a y.a z.a", " ") {
					if random.IntN(3) == 0 {
						names = append(names, name)
					}
				}
				text = hosts(names...)
			}
			files["tenants/"+id+".yaml"] = text
		}
		write(t, w.dir, files)
		r := w.read()
		for id, set := range w.snapshot.Tenants {
			if text := files["tenants/"+id+".yaml"]; r.Problems[id] == nil && text != hosts(set.Hosts...) {
				t.Fatalf("the tenant %s without a problem has %v, its file %s", id, set.Hosts, text)
			}
		}
		if next := w.read(); !next.Change.Empty() {
			t.Fatalf("another reading changes %+v", next.Change)
		}
	}
}

// Objects of the API are not those of files.
func TestTenantsOfTheAPIStay(t *testing.T) {
	w := newWorld(t, map[string]string{"tenants/a.yaml": "{}", "tenants/b.yaml": hosts("x.a"), "tenants/c.yaml": "{}", "tenants/d.yaml": "{}"})
	of := &tenant.Tenant{ID: "a", Owner: tenant.OwnerAPI, Hosts: []string{"x.a"}}
	w.snapshot = apply(w.snapshot, &tenant.Change{SetTenants: []*tenant.Tenant{of, {ID: "z", Owner: tenant.OwnerAPI}}})
	gone := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	w.snapshot.Gone = map[string]time.Time{"c": gone, "d": gone}
	w.snapshot.GoneOwners = map[string]tenant.Owner{"c": tenant.OwnerAPI, "d": tenant.OwnerFiles}
	r := w.read()
	if w.snapshot.Tenants["a"] != of || w.snapshot.Tenants["z"] == nil || ids(r.Change.SetTenants) != "d" {
		t.Errorf("got %+v", r.Change)
	}
	for id, want := range map[string]string{
		"a": "tenants/a.yaml: the tenant a was made by the API, which owns it: remove the file, or give it to files with 'wasmres tenant adopt a --owner files'",
		"b": "tenants/b.yaml:1:9: the host x.a is that of the tenant a: remove it from one of them",
		"c": "tenants/c.yaml: a tenant c was made by the API and removed on 2026-11-01, which keeps the ID for 30 days: rename the file",
	} {
		if got := w.without(r.Problems[id]); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
