package admin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/tenant"
)

// want sends a request, and checks its status and what is in the answer.
func want(t *testing.T, socket, method, path, body string, status int, in string, headers ...string) string {
	t.Helper()
	answer, text := headed(t, socket, method, path, body, headers...)
	if answer.StatusCode != status || !strings.Contains(text, in) {
		t.Errorf("%s %s: got %d %s, want %d with %q", method, path, answer.StatusCode, text, status, in)
	}
	return answer.Header.Get("ETag")
}

const yaml = "Content-Type: application/yaml"

func TestTenantsOfTheAPI(t *testing.T) {
	h := admintest.New(t, acme())
	s := h.Serve(t)
	tag := want(t, s, "PUT", "/v1/tenants/zoo", "hosts: [zoo.example]\nroles:\n  reader: [{uris: [\"**\"]}]\n", 201, `"owner":"api"`, yaml, "If-None-Match: *")
	want(t, s, "PUT", "/v1/tenants/zoo", "{}", 412, "conflict", "If-None-Match: *")
	want(t, s, "PUT", "/v1/tenants/zoo", `{"hosts":["zoo.example"],"providers":{"notes":{"module":"ghcr.io/ada/notes:1"}}}`, 200, `"providers":1`, "If-Match: "+tag)
	want(t, s, "PUT", "/v1/tenants/zoo", `{}`, 412, "conflict", "If-Match: "+tag)
	want(t, s, "PUT", "/v1/tenants/zoo/providers/wiki", "module: ghcr.io/ada/wiki:1\npermissions: {kv: {max_keys: 10}}\n", 200, `"providers":2`, yaml)
	want(t, s, "GET", "/v1/tenants/zoo/file", "", 200, "max_keys: 10")
	if p := h.Snapshot().Tenants["zoo"].Providers; len(p) != 2 || p[1].Name != "wiki" || p[1].Policy.KV == nil {
		t.Errorf("got %+v", p)
	}
	want(t, s, "POST", "/v1/tenants/zoo/disable", "", 200, `"disabled":true`)
	want(t, s, "POST", "/v1/tenants/zoo/enable", "", 200, `"id":"zoo"`)
	want(t, s, "DELETE", "/v1/tenants/zoo/providers/wikki", "", 404, "did you mean wiki?")
	want(t, s, "DELETE", "/v1/tenants/zoo/providers/wiki", "", 200, `"providers":1`)
	want(t, s, "DELETE", "/v1/tenants/zoo", "", 204, "")
	want(t, s, "DELETE", "/v1/tenants/zoo", "", 404, "it was removed at")

	for _, of := range []struct{ method, path string }{
		{"PUT", "/v1/tenants/acme"}, {"DELETE", "/v1/tenants/acme"}, {"POST", "/v1/tenants/acme/disable"}, {"PUT", "/v1/tenants/acme/providers/notes"},
		{"DELETE", "/v1/tenants/acme/providers/notes"},
	} {
		want(t, s, of.method, of.path, "{}", 409, `"code":"owned"`)
	}
}

// The API refuses what a file of the tenant would be refused for, with the place, and what only files may have.
func TestWrongTenantsOfTheAPI(t *testing.T) {
	h := admintest.New(t, acme(), &tenant.Tenant{ID: "zoo", Owner: tenant.OwnerAPI})
	s, before := h.Serve(t), h.Snapshot().Generation
	for _, row := range []struct{ path, body, in string }{
		{"zoo", "plann: x", "the body:1:1: "},
		{"zoo", "plann: x", "plan"},
		{"zoo", "plan: gold", `\"gold\"`},
		{"zoo", "hosts: [acme.example]", "the host acme.example is that of the tenant acme"},
		{"zoo", "hosts:\n  - a.example\n  - a.example\n", "the body:3:"},
		{"zoo", "providers:\n  notes: {module: /etc/passwd}\n", "only the file of a tenant can name a file"},
		{"zoo", "providers:\n  notes: {module: \"oci-layout:/srv/x:1\"}\n", "only the file of a tenant can name a folder"},
		{"zoo", "providers:\n  notes: {module: ghcr.io/a/b:1, policy: /etc/passwd}\n", "only the file of a tenant can name another file"},
		{"zoo", "providers:\n  notes: {module: ghcr.io/a/b:1, permissions: {storage: {allow: [{uri: \"fs:///etc/**\", access: [read]}]}}}\n", "the folder /etc is not below"},
		{"zoo", "providers:\n  notes: {module: ghcr.io/a/b:1, permissions: {storage: {allow: [{uri: \"fs://../../other/files/**\", access: [read]}]}}}\n", "is not below"},
		{"zoo", "providers:\n  notes: {module: ghcr.io/a/b:1, permissions: {network: {allow: [{host: localhost, private: true}]}}}\n", "private networks"},
		{"zoo", "providers:\n  notes: {module: ghcr.io/a/b:1, permissions: {secrets: [{name: x, file: /etc/shadow}]}}\n", "the secret x"},
		{"zoo", "providers:\n  notes: {module: ghcr.io/a/b:1, permissions: {environment: {allow: [{key: PATH}]}}}\n", "the variable PATH"},
		{"zoo", "providers:\n  notes: {module: ghcr.io/a/b:1, permissions: {sql: [{name: db, dsn_file: /etc/x}]}}\n", "the connection db"},
		{"zoo", "providers:\n  notes: {module: ghcr.io/a/b:1, engine: wasmtime}\n", "only the file of a tenant and a plan can choose engines"},
		{"zoo", "providers:\n  notes: {module: ghcr.io/a/b:1, shadow: 10}\n", "only the file of a tenant and a plan can choose engines"},
		{"zoo/providers/notes", "{module: ghcr.io/a/b:1, shadow: 10}", "only the file of a tenant and a plan can choose engines"},
		{"zoo/providers/no%20name", "module: ghcr.io/a/b:1", "is not a name"},
		{"zoo/providers/notes", "\n\nmodul: x", "the body:3:1: "},
		{"zoo/providers/notes", "module: /x.wasm", "the body:1:9: "},
		{"Zoo", "{}", "is not the ID of a tenant"},
	} {
		want(t, s, "PUT", "/v1/tenants/"+row.path, row.body, 400, row.in, yaml)
	}
	want(t, s, "PUT", "/v1/tenants/zoo", strings.Repeat(" ", 2<<20), 413, "too_large", yaml)
	if now := h.Snapshot().Generation; now != before {
		t.Errorf("the generation became %d, it was %d", now, before)
	}
}

func TestPlansOfTheAPI(t *testing.T) {
	h := admintest.New(t, acme())
	s := h.Serve(t)
	tag := want(t, s, "PUT", "/v1/plans/gold", "requests: {rate: 500/s}\n", 201, `"owner":"api"`, yaml)
	want(t, s, "PUT", "/v1/plans/gold", "requests: {rate: 900/s}\n", 200, "900/s", yaml, "If-Match: "+tag)
	want(t, s, "PUT", "/v1/plans/gold", "requests: {rate: 1/s}\n", 412, "conflict", yaml, "If-Match: "+tag)
	want(t, s, "PUT", "/v1/plans/gold", "requests: {burst: 5}\n", 400, "the rate is missing", yaml)
	want(t, s, "PUT", "/v1/plans/default", "{}", 409, "owned", yaml)
	want(t, s, "PUT", "/v1/tenants/zoo", "plan: gold\nproviders: {notes: {module: ghcr.io/a/b:1, permissions: {resources: {limits: {memory: 128Mi}}}}}\n", 400, "the plan gold", yaml)
	want(t, s, "PUT", "/v1/plans/gold", "limits: {memory: 256Mi}\n", 200, "256Mi", yaml)
	want(t, s, "PUT", "/v1/tenants/zoo", "plan: gold\nproviders: {notes: {module: ghcr.io/a/b:1, permissions: {resources: {limits: {memory: 128Mi}}}}}\n", 201, "", yaml)
	want(t, s, "PUT", "/v1/plans/gold", "limits: {memory: 64Mi}\n", 400, "the provider notes of the tenant zoo", yaml)
	want(t, s, "PUT", "/v1/plans/gold", "ceiling: /etc/passwd\n", 400, "only serve.yaml can name another file: write permissions in place of ceiling", yaml)
	want(t, s, "PUT", "/v1/plans/gold", "permissions: {kv: {max_keys: 10}, resources: {limits: {memory: 64Mi}}}\n", 400, "move them to limits", yaml)
	want(t, s, "PUT", "/v1/plans/gold", "limits: {memory: 256Mi}\npermissions: {kv: {max_keys: 10}}\n", 200, "max_keys: 10", yaml)
	want(t, s, "DELETE", "/v1/plans/gold", "", 400, "the tenant zoo has the plan gold")
	want(t, s, "GET", "/v1/plans", "", 200, `"name":"gold","owner":"api","tenants":1`)
	// A reading of serve.yaml replaces its own plans only.
	if _, err := h.Apply(t.Context(), tenant.Change{Owner: tenant.OwnerFiles, SetPlans: []*tenant.Plan{{Name: "tiny"}}}); err != nil {
		t.Fatal(err)
	}
	if plans := h.Snapshot().Plans; plans["gold"] == nil || plans["tiny"] == nil || plans["default"] == nil {
		t.Errorf("got %v", plans)
	}
	want(t, s, "DELETE", "/v1/tenants/zoo", "", 204, "")
	want(t, s, "DELETE", "/v1/plans/gold", "", 204, "")
	want(t, s, "DELETE", "/v1/plans/gold", "", 404, "no_plan")
	want(t, s, "DELETE", "/v1/plans/tiny", "", 409, "owned")
}

// Files own a tenant only if there is one, so that it is not removed.
func TestAdoption(t *testing.T) {
	h := admintest.New(t, acme())
	s := h.Serve(t)
	want(t, s, "POST", "/v1/tenants/acme/adopt", `{"owner":"api"}`, 200, `"owner":"api"`)
	want(t, s, "POST", "/v1/tenants/acme/disable", "", 200, `"disabled":true`)
	want(t, s, "POST", "/v1/tenants/acme/adopt", `{"owner":"files"}`, 400, "wasmres tenant export acme")
	folder := h.Settings().Tenants
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "acme.yaml"), h.Snapshot().Tenants["acme"].Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, s, "POST", "/v1/tenants/acme/adopt", `{"owner":"files"}`, 200, `"owner":"files"`)
	want(t, s, "POST", "/v1/tenants/acme/enable", "", 409, "owned")
	want(t, s, "POST", "/v1/tenants/acme/adopt", `{"owner":"me"}`, 400, "files, api")
}

// Of writers with the same tag, one succeeds each time.
func TestConcurrentWriters(t *testing.T) {
	h := admintest.New(t, acme(), &tenant.Tenant{ID: "zoo", Owner: tenant.OwnerAPI})
	s := h.Serve(t)
	tag := want(t, s, "GET", "/v1/tenants/zoo", "", 200, "")
	for round := range 3 {
		var all sync.WaitGroup
		tags := make(chan string, 8)
		for i := range cap(tags) {
			all.Go(func() {
				answer, text := headed(t, s, "PUT", "/v1/tenants/zoo", fmt.Sprintf("origins: [\"https://o%d-%d.example\"]", round, i), yaml, "If-Match: "+tag)
				if answer.StatusCode == 200 {
					tags <- answer.Header.Get("ETag")
				} else if answer.StatusCode != 412 || codeOf(t, text) != admin.CodeConflict {
					t.Errorf("got %d %s", answer.StatusCode, text)
				}
			})
			all.Go(func() { // who changes something else does not disturb them
				if answer, text := headed(t, s, "POST", "/v1/tenants/acme/keys", newKey); answer.StatusCode != 201 {
					t.Errorf("got %d %s", answer.StatusCode, text)
				}
			})
		}
		all.Wait()
		if len(tags) != 1 {
			t.Fatalf("%d writers of %d succeeded", len(tags), cap(tags))
		}
		tag = <-tags
	}
}
