package quota_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/limits"
)

func openBook(t *testing.T, path string) *quota.Book {
	t.Helper()
	b, err := quota.OpenBook(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A restart gives no second budget on the same day, also for tenants that were not asked for in between.
func TestBudgetsSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.json")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		plan := &tenant.Plan{}
		b := openBook(t, path)
		b.Tenant("a", plan).Used(limits.Usage{CPU: time.Minute})
		b.Tenant("b", plan).Account("=x", admission.Principal).Write(100)
		b.Tenant("none", plan)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		b = openBook(t, path)
		b.Tenant("a", plan).Used(limits.Usage{CPU: time.Second})
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		b = openBook(t, path)
		for id, want := range map[string]quota.Used{"a": {CPU: 61 * time.Second}, "b": {Bytes: 100}, "none": {}} {
			if got := b.Tenant(id, plan).Today(); got != want {
				t.Errorf("%s: got %+v, want %+v", id, got, want)
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(23 * time.Hour)
		b = openBook(t, path)
		if got := b.Tenant("a", plan).Today(); got != (quota.Used{}) {
			t.Errorf("on the next day: %+v", got)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A process that is killed loses what was used in the last ten seconds.
func TestUsageIsStoredRegularly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.json")
	synctest.Test(t, func(t *testing.T) {
		b := openBook(t, path)
		defer b.Close()
		b.Tenant("a", &tenant.Plan{}).Used(limits.Usage{CPU: time.Minute})
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		again := openBook(t, path) // as another process
		defer again.Close()
		if got := again.Tenant("a", &tenant.Plan{}).Today(); got.CPU != time.Minute {
			t.Errorf("got %+v", got)
		}
	})
}

func TestAFileThatIsWrong(t *testing.T) {
	day := time.Now().UTC().Format(time.DateOnly)
	for name, text := range map[string]string{
		"empty": "", "no JSON": "{", "another version": `{"version":2}`,
		"negative": `{"version":1,"day":"` + day + `","tenants":{"a":{"cpu":-1,"bytes":0}}}`,
	} {
		path := filepath.Join(t.TempDir(), "usage.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b := openBook(t, path)
		if got := b.Tenant("a", &tenant.Plan{}).Today(); got != (quota.Used{}) {
			t.Errorf("%s: got %+v", name, got)
		}
		if err := b.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := quota.OpenBook(t.TempDir(), nil); err == nil {
		t.Error("a directory was read as usage")
	}
}

// What a file says is bounded, and never makes a tenant owe less than nothing.
func FuzzUsage(f *testing.F) {
	f.Add([]byte(`{"version":1,"day":"2026-11-23","tenants":{"a":{"cpu":1,"bytes":2}}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, "usage.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		b := openBook(t, path)
		defer b.Close()
		if got := b.Tenant("a", &tenant.Plan{}).Today(); got.CPU < 0 || got.Bytes < 0 {
			t.Errorf("got %+v", got)
		}
	})
}
