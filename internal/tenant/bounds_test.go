package tenant_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
)

func (w *world) remove(name string) {
	w.Helper()
	if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
		w.Fatal(err)
	}
}

// A folder that is too large is not read, and changes nothing.
func TestALargeFolderIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes twenty thousand files")
	}
	t.Parallel() // most of it is the making of files
	w := newWorld(t, map[string]string{"tenants/a.yaml": "{}", "tenants/b.yaml": "disabled: true #" + strings.Repeat("x", strict.MaxSize-100)})
	w.read()
	for i := range 256 { // links to one file are as many files
		if err := os.Link(w.dir+"/tenants/b.yaml", fmt.Sprintf("%s/tenants/c%d.yaml", w.dir, i)); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := w.reader.ReadTenants(w.settings, w.snapshot); err == nil || !strings.Contains(err.Error(), "more than 268435456 bytes in all") {
		t.Errorf("of many bytes: got %v, %v", r, err)
	}
	for i := range 256 {
		w.remove(fmt.Sprintf("tenants/c%d.yaml", i))
	}
	if r := w.read(); !r.Change.Empty() {
		t.Errorf("got %+v", r.Change)
	}
	for i := range tenant.MaxFiles {
		if err := os.Symlink("none", fmt.Sprintf("%s/tenants/.%d", w.dir, i)); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := w.reader.ReadTenants(w.settings, w.snapshot); err == nil || !strings.Contains(err.Error(), "more than 20000 files") {
		t.Errorf("of many files: got %v, %v", r, err)
	}
}

// A change within one tick of the clock of the file system, of the same size, is seen.
func TestChangesAtTheSameTimeAreSeen(t *testing.T) {
	w := newWorld(t, nil)
	file := w.dir + "/tenants/a.yaml"
	now := time.Now().Truncate(time.Second)
	for _, host := range []string{"x.a", "y.a", "z.a"} {
		if err := os.WriteFile(file, []byte(hosts(host)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, now, now); err != nil {
			t.Fatal(err)
		}
		if w.read(); w.snapshot.Hosts[host] == nil {
			t.Fatalf("%s is not seen: %v", host, w.snapshot.Hosts)
		}
	}
}

// Kubernetes mounts a folder whose files are links through ..data, and replaces that.
func TestLinksWithinTheFolderAreFollowed(t *testing.T) {
	w := newWorld(t, map[string]string{"tenants/..1/a.yaml": hosts("x.a"), "tenants/..2/a.yaml": hosts("y.a")})
	link := func(to, name string) {
		if err := os.Symlink(to, w.dir+"/tenants/"+name); err != nil {
			t.Fatal(err)
		}
	}
	link("..1", "..data")
	link("..data/a.yaml", "a.yaml")
	if w.read(); w.snapshot.Hosts["x.a"] == nil {
		t.Errorf("got %v", w.snapshot)
	}
	w.remove("tenants/..data")
	link("..2", "..data")
	if r := w.read(); w.snapshot.Hosts["y.a"] == nil || r.Read != 1 {
		t.Errorf("got %v, %+v", w.snapshot, r)
	}
}

func TestRolesAreBounded(t *testing.T) {
	var b bytes.Buffer
	fmt.Fprintln(&b, "roles:")
	for i := range 6 {
		fmt.Fprintf(&b, "  r%d: [%s]\n", i, strings.Repeat("{uris: [x]}, ", 200))
	}
	fmt.Fprintf(&b, "  all: [{use: r0}, {use: r1}, {use: r2}, {use: r3}, {use: r4}, {use: r5}]\n")
	w := newWorld(t, map[string]string{"tenants/a.yaml": b.String()})
	if got := w.without(w.read().Problems["a"]); got != "tenants/a.yaml:8:8: the role has 1200 rules, with those of the roles that it uses: at most 1000 are allowed" {
		t.Errorf("got %s", got)
	}
	// Uses are many paths to few roles.
	b.Reset()
	fmt.Fprintln(&b, "roles:\n  r0: [{uris: [x]}]")
	for i := range 100 {
		fmt.Fprintf(&b, "  r%d: [{use: r%d}, {use: r%d}]\n", i+1, i, max(0, i-1))
	}
	write(t, w.dir, map[string]string{"tenants/a.yaml": b.String()})
	if r := w.read(); len(r.Problems) > 0 || len(w.snapshot.Tenants["a"].Roles) != 101 || len(w.snapshot.Tenants["a"].Roles[100].Rules) != 1 {
		t.Errorf("got %v", r.Problems)
	}
}

func FuzzTenantFile(f *testing.F) {
	for _, d := range defects {
		if len(d.text) < 1000 {
			f.Add([]byte(d.text))
		}
	}
	dir := f.TempDir()
	write(f, dir, with(plans, map[string]string{"modules/a.wasm": "", "tenants/x": ""}))
	s := settings(f, dir)
	f.Add([]byte(simple))
	f.Fuzz(func(t *testing.T, text []byte) {
		var reader tenant.Reader
		read := func(text []byte) (*tenant.Tenant, strict.Problems) {
			write(t, dir, map[string]string{"tenants/a.yaml": string(text)})
			r, err := reader.ReadTenants(s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Change.SetTenants)+len(r.Problems) != 1 {
				t.Fatalf("got %d tenants, %d problems", len(r.Change.SetTenants), len(r.Problems))
			}
			if r.Problems["a"] != nil {
				return nil, r.Problems["a"]
			}
			return r.Change.SetTenants[0], nil
		}
		got, problems := read(text)
		if got == nil {
			if len(problems) == 0 || problems.Error() == "" {
				t.Fatal("a problem says nothing")
			}
			return
		}
		encoded := got.Encode()
		again, problems := read(encoded)
		if again == nil {
			t.Fatalf("%v\n%s", problems, encoded)
		}
		if string(again.Encode()) != string(encoded) {
			t.Fatalf("%s\nis read back as\n%s", encoded, again.Encode())
		}
	})
}

func FuzzSettings(f *testing.F) {
	dir := example(f)
	text, err := os.ReadFile(dir + "/serve.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("listen: [{address: \":1\", insecure: true}]\nplans: {a: {requests: {rate: 1/h}, ceiling: policies/notes.yaml}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		write(t, dir, map[string]string{"serve.yaml": string(text)})
		s, err := tenant.ReadSettings(dir+"/serve.yaml", dir)
		if err != nil {
			if len(strict.ProblemsOf(err)) == 0 {
				t.Fatalf("not a problem: %v", err)
			}
			return
		}
		if len(s.Listen) == 0 || s.Plans[tenant.DefaultPlan] == nil || s.Idle <= 0 || len(s.Digest) != 64 ||
			!filepath.IsAbs(s.Data) || !filepath.IsAbs(s.Tenants) || !filepath.IsAbs(s.Admin.Socket) {
			t.Fatalf("got %+v", s)
		}
		for _, p := range s.Plans {
			for _, rate := range []tenant.Rate{p.Requests, p.PrincipalRequests, p.ProviderRequests} {
				if (rate.PerSecond > 0) != (rate.Burst > 0) {
					t.Fatalf("got %+v", rate)
				}
			}
		}
	})
}
