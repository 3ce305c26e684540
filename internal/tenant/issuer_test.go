package tenant_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/sourcetree"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
)

// The example of issuers that bend the rules is a right file, beside a server whose URL is known.
func TestTheExampleOfIssuers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(sourcetree.Root(), "docs", "deploy", "tenant-oauth.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, with(plans, map[string]string{"tenants/acme.yaml": string(text), "tenants/zoo.yaml": "{disabled: true}\n"}))
	w.read()
	acme := w.snapshot.Tenants["acme"]
	if acme == nil {
		t.Fatal(w.snapshot.Problems)
	}
	if len(acme.Issuers) != 3 || acme.Issuers[0].RolesClaim != "realm_access.roles" || acme.Roles[0].Rules[0].Scope != "drafts" || !slices.Equal(acme.SignInScopes(), []string{"notes"}) {
		t.Errorf("got %+v", acme)
	}
}

// Only a file can permit what reaches the machine of the operator.
func TestIssuersOfTheAPI(t *testing.T) {
	w := newWorld(t, with(plans, map[string]string{"tenants/.keep": ""}))
	w.read()
	given := &tenant.Given{Settings: w.settings, Now: w.snapshot}
	for text, want := range map[string]string{
		`{"roles":{"r":[{"uris":["**"]}]},"auth":{"issuers":[{"issuer":"https://id.example","roles":["r"]}]}}`:                                                               "",
		`{"roles":{"r":[{"uris":["**"]}]},"auth":{"issuers":[{"issuer":"http://127.0.0.1:9","roles":["r"],"insecure":true}]}}`:                                               "only the file of a tenant can permit HTTP",
		`{"roles":{"r":[{"uris":["**"]}]},"auth":{"issuers":[{"issuer":"https://id.example","roles":["r"],"introspection":{"client_id":"a","secret_file":"/etc/passwd"}}]}}`: "only the file of a tenant can name a file",
	} {
		_, err := given.Tenant("acme", []byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(strict.ProblemsOf(err).Error(), want) {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

// Tokens are for the URL of an endpoint: a server that does not know its own accepts none.
func TestIssuersNeedTheURLOfTheServer(t *testing.T) {
	w := newWorld(t, map[string]string{
		"serve.yaml":        "listen: [{address: \":8080\", insecure: true}]\n",
		"tenants/acme.yaml": "roles: {r: [{uris: [\"**\"]}]}\nauth: {issuers: [{issuer: https://id.example, roles: [r]}]}\n",
	})
	w.read()
	if problem := w.snapshot.Problems["acme"]; !strings.Contains(problem, "2:8: tokens are for the URL of an endpoint, which is not known: add public_url to serve.yaml") && !strings.Contains(problem, "add public_url") {
		t.Errorf("got %q", problem)
	}
	for address, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", "localhost:80": "http://localhost:80", ":8080": "", "0.0.0.0:80": "", "127.0.0.1:0": "", "[::]:80": "",
	} {
		s := &tenant.Settings{Listen: []tenant.Listener{{Address: address}}}
		if got := s.ServerURL(); got != want {
			t.Errorf("%s: got %s", address, got)
		}
	}
}
