package deploy_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// TestATrialLeavesNoImageOfATenantThatIsOff disables the tenant while the trial of a version is about to start its guest.
func TestATrialLeavesNoImageOfATenantThatIsOff(t *testing.T) {
	f := open(t, nil)
	if err := errors.Join(f.Close(), f.host.Close()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	images := func() int {
		files, err := filepath.Glob(filepath.Join(dir, "*.image"))
		if err != nil {
			t.Error(err)
		}
		return len(files)
	}
	var err error
	if f.host, err = runtime.NewHost(runtime.HostConfig{CacheDir: dir, Isolation: runtime.IsolateProcess}); err != nil {
		t.Fatal(err)
	}
	saved := make(chan int, 1)
	f.cfg.Runtime = f.host
	f.cfg.Meter = func(tenant.ProviderID, int, *runtime.Live) host.Meter {
		off := *f.store.Snapshot().Tenants["acme"]
		off.Disabled = true
		_, err := f.store.Apply(t.Context(), tenant.Change{Owner: tenant.OwnerFiles, SetTenants: []*tenant.Tenant{&off}})
		if err := errors.Join(err, f.host.RemoveImages("acme")); err != nil { // as the server does
			t.Error(err)
		}
		return host.Meter{Used: func(runtime.Usage) {}, UsedAgain: func(runtime.Usage) {}, Close: func() {
			select {
			case saved <- images():
			default:
			}
		}}
	}
	f.start(f.cfg)
	f.push(read(t, "faults.wasm"), nil)
	if n := <-saved; n != 1 {
		t.Errorf("the trial has saved %d images, want 1", n)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if n := images(); n != 0 {
		t.Errorf("%d images of a tenant that is off are left", n)
	}
}
