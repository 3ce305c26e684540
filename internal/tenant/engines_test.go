package tenant_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/enginename"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
)

// An engine that this program lacks is refused when the files are read, and not when a client comes.
func TestEnginesThatTheProgramLacksAreRefused(t *testing.T) {
	w := newWorld(t, map[string]string{
		"serve.yaml":           "plans: {fine: {engine: wazero}}\n",
		"tenants/heavy.yaml":   "providers:\n  a: {module: ../modules/a.wasm, engine: wasmtime}\n",
		"tenants/shadow.yaml":  "providers:\n  a: {module: ../modules/a.wasm, shadow: 100}\n",
		"tenants/policy.yaml":  "providers:\n  a: {module: ../modules/a.wasm, policy: p.txt}\n",
		"tenants/p.txt":        "version: \"1.0\"\nengine: wasmtime\npermissions: {}\n",
		"tenants/default.yaml": "providers:\n  a: {module: ../modules/a.wasm, engine: wazero}\n",
	})
	problems := w.read().Problems
	plans := map[string]string{"{engine: wasmtime}": ":3:14: ", "{shadow: 100}": ":3:14: ", "{engine: wasmtime, shadow: 100}": ":3:14: "}
	if enginename.Check(enginename.Wasmtime) == nil {
		if len(problems) > 0 {
			t.Errorf("a program with both engines: %v", problems)
		}
		for plan := range plans {
			if _, err := readSettings(t, "plans:\n  p:\n    "+plan+"\n"); err != nil {
				t.Errorf("a program with both engines: %s: %v", plan, err)
			}
		}
		return
	}
	const lacks = "built without wasmtime: build with CGO_ENABLED=1 -tags wasmtime, for linux/amd64; or leave it out"
	for id, at := range map[string]string{"heavy": "2:42: ", "shadow": "2:42: ", "policy": "2:7: "} {
		if got := w.without(problems[id]); !strings.Contains(got, at) || !strings.Contains(got, lacks) {
			t.Errorf("%s: got %q", id, got)
		}
	}
	if len(problems) != 3 {
		t.Errorf("got %v", problems)
	}
	for plan, at := range plans {
		_, err := readSettings(t, "plans:\n  p:\n    "+plan+"\n")
		if got := strict.ProblemsOf(err).Error(); !strings.Contains(got, at) || !strings.Contains(got, lacks) {
			t.Errorf("%s: got %q", plan, got)
		}
		given := &tenant.Given{Settings: w.settings, Now: w.snapshot}
		if _, err := given.Plan("p", []byte(plan)); !strings.Contains(strict.ProblemsOf(err).Error(), lacks) {
			t.Errorf("%s, as the API is given it: got %v", plan, err)
		}
	}
}

// The engine of a provider's policy is that of the provider, unless its file names one.
func TestThePolicyOfAProviderNamesItsEngine(t *testing.T) {
	w := newWorld(t, map[string]string{
		"tenants/acme.yaml": "providers:\n  a: {module: ../modules/a.wasm, policy: p.txt}\n",
		"tenants/p.txt":     "version: \"1.0\"\nengine: wazero\npermissions: {}\n",
	})
	w.read()
	if acme := w.snapshot.Tenants["acme"]; acme == nil || acme.Providers[0].Engine != "wazero" || acme.Providers[0].Policy.Engine != "" {
		t.Errorf("got %+v, problems %v", acme, w.snapshot.Problems)
	}
	write(t, w.dir, map[string]string{"serve.yaml": "plans: {p: {ceiling: tenants/p.txt}}\n"})
	_, err := tenant.ReadSettings(filepath.Join(w.dir, "serve.yaml"), w.dir)
	if err == nil || !strings.Contains(err.Error(), "the ceiling has an engine") {
		t.Errorf("a ceiling with an engine: got %v", err)
	}
}
