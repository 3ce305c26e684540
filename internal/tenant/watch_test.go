package tenant_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// until waits for a change after which done reports true.
func until(t *testing.T, w *tenant.Watcher, done func() bool) {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case <-w.Changed():
			if done() {
				return
			}
		case <-limit:
			t.Fatal("no change was reported")
		}
	}
}

// idle waits until the watcher has reported all that was before.
func idle(t *testing.T, w *tenant.Watcher) {
	t.Helper()
	for {
		select {
		case <-w.Changed():
		case <-time.After(500 * time.Millisecond):
			return
		}
	}
}

// Each way in which programs change files is reported.
func TestChangesAreReported(t *testing.T) {
	w := newWorld(t, with(plans, map[string]string{"tenants/a.yaml": simple}))
	ctx, cancel := context.WithCancel(t.Context())
	watcher := tenant.Watch(ctx, w.settings, nil)
	r := w.read()
	watcher.Follow(w.settings, r.Policies)
	idle(t, watcher)
	file := filepath.Join(w.dir, "tenants", "a.yaml")
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"written", func() error { return os.WriteFile(file, []byte(simple+"hosts: [x.a]\n"), 0o600) }},
		{"replaced", func() error {
			if err := os.WriteFile(file+".tmp", []byte(simple+"hosts: [y.a]\n"), 0o600); err != nil {
				return err
			}
			return os.Rename(file+".tmp", file)
		}},
		{"moved away and written anew, as vim does", func() error {
			if err := os.Rename(file, file+"~"); err != nil {
				return err
			}
			return os.WriteFile(file, []byte(simple+"hosts: [z.a]\n"), 0o600)
		}},
		{"a policy outside of the folder", func() error {
			return os.WriteFile(w.dir+"/policies/a.yaml", []byte(`{version: "1.0", permissions: {}}`), 0o600)
		}},
		{"a new tenant", func() error { return os.WriteFile(w.dir+"/tenants/b.yaml", []byte("{}"), 0o600) }},
		{"removed", func() error { return os.Remove(w.dir + "/tenants/b.yaml") }},
		{"the settings", func() error {
			return os.WriteFile(w.dir+"/serve.yaml", []byte("plans: {small: {concurrent: 3}}"), 0o600)
		}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		until(t, watcher, func() bool {
			w.settings = settings(t, w.dir)
			r := w.read()
			return !r.Change.Empty()
		})
	}
	if len(w.snapshot.Problems) > 0 || w.snapshot.Plans["small"].Concurrent != 3 || w.snapshot.Hosts["z.a"] == nil || w.snapshot.Tenants["b"] != nil {
		t.Errorf("got %+v", w.snapshot)
	}
	cancel()
	<-watcher.Done()
	watcher.Follow(w.settings, nil) // does not wait
	watcher.Follow(w.settings, nil)
}

// A folder that comes later, or is gone for a while, is found.
func TestAMissingFolderIsFound(t *testing.T) {
	t.Parallel() // it waits for seconds
	w := newWorld(t, map[string]string{"tenants/a.yaml": "{}"})
	move := func(from, to string) {
		if err := os.Rename(filepath.Join(w.dir, from), filepath.Join(w.dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	move("tenants", "later")
	watcher := tenant.Watch(t.Context(), w.settings, nil)
	read := func() bool {
		r, err := w.reader.ReadTenants(w.settings, w.snapshot)
		if err != nil {
			return false
		}
		w.snapshot = apply(w.snapshot, &r.Change)
		return !r.Change.Empty()
	}
	until(t, watcher, func() bool { return true })
	move("later", "tenants")
	until(t, watcher, read)
	write(t, w.dir, map[string]string{"tenants/b.yaml": "{}"})
	until(t, watcher, read)
	if len(w.snapshot.Tenants) != 2 {
		t.Errorf("got %v", w.snapshot.Tenants)
	}
}
