package quota_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
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
	b, err := quota.OpenBook(quota.Config{File: path})
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

// A server that starts with a clock of another day uses none of the budget of the right day, and gives no second one for it.
func TestBudgetsSurviveAClockOfAnotherDay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.json")
	plan := &tenant.Plan{}
	for run, c := range []struct {
		after time.Duration // since a midnight
		want  time.Duration // used before
	}{{0, 0}, {48 * time.Hour, 0}, {0, time.Minute}, {48 * time.Hour, time.Minute}, {0, 2 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) { // each begins at the same time
			time.Sleep(c.after)
			b := openBook(t, path)
			if got := b.Tenant("a", plan).Today(); got.CPU != c.want {
				t.Errorf("run %d: got %+v, want %v", run, got, c.want)
			}
			b.Tenant("a", plan).Used(limits.Usage{CPU: time.Minute})
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A file has few days.
func TestOldBudgetsAreForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.json")
	synctest.Test(t, func(t *testing.T) {
		for range 10 {
			b := openBook(t, path)
			b.Tenant("a", &tenant.Plan{}).Used(limits.Usage{CPU: time.Minute})
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(24 * time.Hour)
		}
	})
	text, err := os.ReadFile(path)
	if got := strings.Count(string(text), `"day":`); err != nil || got != 3 {
		t.Errorf("got %d days, %v, want 3: %s", got, err, text)
	}
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

// The first request of a day begins the day. It waits neither for a disk that does not answer nor for a log that no process reads; or else
// this test does not end.
func TestNoTenantWaitsForTheDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.json")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24*time.Hour - 15*time.Second)
		disk, log := make(chan error), make(blockedLog)
		b, err := quota.OpenBookWriting(quota.Config{File: path, Logger: slog.New(slog.NewTextHandler(log, nil))},
			func(string, []byte, fs.FileMode) error { return <-disk })
		if err != nil {
			t.Fatal(err)
		}
		a := b.Tenant("a", bounded).Account("=x", admission.Principal)
		for _, answer := range []func(){
			func() { disk <- errors.New("no space left") },
			func() { close(log) },
		} {
			b.Tenant("a", bounded).Used(limits.Usage{CPU: perDay})
			time.Sleep(24 * time.Hour) // the Book has begun to save, or to log, and it is another day
			synctest.Wait()
			if refused, ok := a.Enter(1); !ok {
				t.Errorf("refused by %+v on another day", refused)
			}
			a.Leave()
			answer()
			synctest.Wait()
		}
		close(disk)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A blockedLog takes nothing until it is closed.
type blockedLog chan struct{}

func (l blockedLog) Write(line []byte) (int, error) {
	<-l
	return len(line), nil
}

func TestAFileThatIsWrong(t *testing.T) {
	day := time.Now().UTC().Format(time.DateOnly)
	for name, text := range map[string]string{
		"empty": "", "no JSON": "{", "another version": `{"version":2}`,
		"negative on another day": `{"version":1,"day":"2026-01-01","tenants":{},"others":[{"day":"` + day + `","tenants":{"a":{"cpu":0,"bytes":-1}}}]}`,
		"negative":                `{"version":1,"day":"` + day + `","tenants":{"a":{"cpu":-1,"bytes":0}}}`,
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
	if _, err := quota.OpenBook(quota.Config{File: t.TempDir()}); err == nil {
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
