package admin_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/certificate"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/tenant"
)

// A remote is a server that is reached by TLS.
type remote struct {
	*admintest.Host
	url    string
	socket string
	client *tls.Config // of clients that know its authority
	http   *http.Client
}

func serveTLS(t *testing.T, h *admintest.Host) *remote {
	t.Helper()
	authority, dir := certtest.NewAuthority(t), t.TempDir()
	cfg := certificate.Config{Cert: dir + "/cert.pem", Key: dir + "/key.pem"}
	certtest.Write(t, authority.Issue(t, &x509.Certificate{Subject: certtest.Name("server")}), cfg.Cert, cfg.Key)
	files, err := certificate.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &remote{Host: h, url: h.ServeTLS(t, files.TLS()), client: &tls.Config{RootCAs: authority.Pool()}}
	connections := &http.Transport{TLSClientConfig: r.client.Clone()}
	t.Cleanup(connections.CloseIdleConnections)
	r.http = &http.Client{Transport: admintest.Transport(t, connections)}
	r.socket = h.Serve(t)
	return r
}

// key makes an admin key.
func (r *remote) key(t *testing.T, role admin.Role, tenantID string) string {
	t.Helper()
	c := admin.NewClient(r.socket)
	defer c.Close()
	made, err := c.CreateAdminKey(t.Context(), admin.NewAdminKey{Name: "ada", Role: role, Tenant: tenantID})
	if err != nil {
		t.Fatal(err)
	}
	return made.Text
}

// ask sends a request with an admin key; empty for none.
func (r *remote) ask(t *testing.T, method, path, body, key string) (*http.Response, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	if key != "" {
		q.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := r.http.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.Header.Get("Content-Type") == "text/event-stream" { // which has no end
		return answer, ""
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

var parameter = regexp.MustCompile(`\{[a-z]+\}`)

// Each endpoint permits the roles that its line in the table names, of its own tenant or of all, and no others. This is the
// whole table: role × tenant × endpoint, each asked with a real key.
func TestEachRoleAtEachEndpoint(t *testing.T) {
	r := serveTLS(t, admintest.New(t, acme(), &tenant.Tenant{ID: "beta", Owner: tenant.OwnerFiles}))
	type holder struct {
		role   admin.Role
		tenant string
	}
	holders := map[holder]string{}
	for _, role := range admin.Roles {
		for _, id := range []string{"", "acme", "beta"} {
			if tenant.CheckAdminRole(string(role), id) == nil {
				holders[holder{role, id}] = r.key(t, role, id)
			}
		}
	}
	cells := 0
	for _, e := range admin.Cells() {
		path := parameter.ReplaceAllString(strings.ReplaceAll(e.Path, "{tenant}", "acme"), "absent")
		isOfTenant := path != parameter.ReplaceAllString(e.Path, "absent")
		for who, key := range holders {
			cells++
			isAllowed := slices.Contains(e.May, who.role) && (who.tenant == "" || isOfTenant && who.tenant == "acme" || !isOfTenant && e.Own)
			answer, text := r.ask(t, e.Method, path, `{"name":"x","roles":[],"graceSeconds":0,"role":"","owner":""}`, key)
			isForbidden := answer.StatusCode == http.StatusForbidden
			if isForbidden == isAllowed || isForbidden && codeOf(t, text) != admin.CodeForbidden || answer.StatusCode == http.StatusUnauthorized {
				t.Errorf("%s %s as %+v: got %d %s, want allowed %v", e.Method, path, who, answer.StatusCode, text, isAllowed)
			}
		}
		if answer, text := r.ask(t, e.Method, path, "{}", ""); answer.StatusCode != http.StatusUnauthorized || codeOf(t, text) != admin.CodeNoAccess ||
			!strings.HasPrefix(answer.Header.Get("WWW-Authenticate"), "Bearer ") {
			t.Errorf("%s %s without a key: got %d %s", e.Method, path, answer.StatusCode, text)
		}
	}
	if want := len(admin.Cells()) * 9; cells != want {
		t.Errorf("%d cells were tested of %d", cells, want)
	}
}

// What a holder of a key for one tenant is shown and may do beside paths of the tenant ends at that tenant.
func TestOneTenantOnly(t *testing.T) {
	r := serveTLS(t, admintest.New(t, acme(), &tenant.Tenant{ID: "beta", Roles: []tenant.Role{{Name: "reader"}}}))
	operator, beta := r.key(t, admin.Operator, ""), r.key(t, admin.TenantAdmin, "beta")
	made, _ := r.ask(t, "POST", "/v1/tenants/acme/keys", newKey, operator)
	theirs := made.Header.Get("Location")
	for _, path := range []string{"/v1/tenants", "/v1/keys", "/v1/node", "/v1/tenants?stale=true"} {
		if answer, text := r.ask(t, "GET", path, "", beta); answer.StatusCode != 200 || strings.Contains(text, "acme") || strings.Contains(text, `"tenants":2`) {
			t.Errorf("%s: got %d %s", path, answer.StatusCode, text)
		}
	}
	absent := strings.ReplaceAll(theirs, theirs[len("/v1/keys/"):], "aaaaaaaaaaaa")
	for _, method := range []string{"DELETE", "POST"} {
		suffix := map[string]string{"POST": "/rotate"}[method]
		answer, foreign := r.ask(t, method, theirs+suffix, "{}", beta)
		_, none := r.ask(t, method, absent+suffix, "{}", beta)
		if answer.StatusCode != 404 || strings.ReplaceAll(foreign, theirs[9:], "") != strings.ReplaceAll(none, "aaaaaaaaaaaa", "") {
			t.Errorf("%s: a foreign key differs from none: %d %s, %s", method, answer.StatusCode, foreign, none)
		}
	}
	for _, id := range []string{"acme", "no-such"} { // whether or not there is one
		if answer, _ := r.ask(t, "GET", "/v1/tenants/"+id, "", beta); answer.StatusCode != 403 {
			t.Errorf("%s: got %d", id, answer.StatusCode)
		}
	}
	if answer, text := r.ask(t, "POST", "/v1/tenants/beta/keys", newKey, beta); answer.StatusCode != 201 || !strings.Contains(text, `"creator":"admin key `) {
		t.Errorf("got %d %s", answer.StatusCode, text)
	}
}

// A tenant-admin may change its tenant, but not what an operator allots.
func TestATenantAdminAllotsNothing(t *testing.T) {
	r := serveTLS(t, admintest.New(t, acme(), &tenant.Tenant{ID: "zoo", Owner: tenant.OwnerAPI, Hosts: []string{"zoo.example"}}))
	key := r.key(t, admin.TenantAdmin, "zoo")
	for body, status := range map[string]int{
		`{"hosts":["zoo.example"],"tools":true}`:    200,
		`{"hosts":["zoo.example","b.example"]}`:     403,
		`{"hosts":["zoo.example"],"disabled":true}`: 403,
	} {
		if answer, text := r.ask(t, "PUT", "/v1/tenants/zoo", body, key); answer.StatusCode != status {
			t.Errorf("%s: got %d %s", body, answer.StatusCode, text)
		}
	}
	if _, err := r.Apply(t.Context(), tenant.Change{Owner: tenant.OwnerAPI, PutPlans: []*tenant.Plan{{Name: "gold", Owner: tenant.OwnerAPI}}}); err != nil {
		t.Fatal(err)
	}
	if answer, text := r.ask(t, "PUT", "/v1/tenants/zoo", `{"hosts":["zoo.example"],"plan":"gold"}`, key); answer.StatusCode != 403 {
		t.Errorf("got %d %s", answer.StatusCode, text)
	}
}

func TestAdminKeys(t *testing.T) {
	r := serveTLS(t, admintest.New(t, acme()))
	c := admin.NewClient(r.Serve(t))
	defer c.Close()
	made, err := c.CreateAdminKey(t.Context(), admin.NewAdminKey{Name: "ci", Role: admin.Deployer, Tenant: "acme"})
	if err != nil || !strings.HasPrefix(made.Text, "wra_"+made.ID+"_") || made.Expires == nil {
		t.Fatalf("got %+v, %v", made, err)
	}
	for _, file := range r.Files() {
		if strings.Contains(file, made.Text) || strings.Contains(file, made.Text[len("wra_")+13:]) {
			t.Error("the store has the text of the key")
		}
	}
	if answer, _ := r.ask(t, "GET", "/v1/tenants/acme", "", made.Text); answer.StatusCode != 200 {
		t.Errorf("got %d", answer.StatusCode)
	}
	remote := admintest.Remote(t, admin.Remote{URL: r.url, Key: made.Text, TLS: r.client})
	if shown, err := remote.Tenant(t.Context(), "acme"); err != nil || shown.ID != "acme" {
		t.Errorf("got %+v, %v", shown, err)
	}
	if page, err := c.AdminKeys(t.Context(), ""); err != nil || len(page.Items) != 1 || page.Items[0].ID != made.ID || page.Items[0].Role != admin.Deployer {
		t.Errorf("got %+v, %v", page, err)
	}
	if detail := problem(t, c.RevokeAdminKey(t.Context(), "ci"), 404, admin.CodeNoKey); !strings.Contains(detail, made.ID) {
		t.Error(detail)
	}
	if err := c.RevokeAdminKey(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if answer, _ := r.ask(t, "GET", "/v1/tenants/acme", "", made.Text); answer.StatusCode != 401 {
		t.Errorf("a revoked key is answered by %d", answer.StatusCode)
	}
	for _, wrong := range []admin.NewAdminKey{
		{Name: "x", Role: "root"}, {Name: "x", Role: admin.Operator, Tenant: "acme"}, {Name: "x", Role: admin.TenantAdmin}, {Name: "a b", Role: admin.Auditor},
		{Name: "x", Role: admin.Auditor, Expires: "soon"},
	} {
		_, err := c.CreateAdminKey(t.Context(), wrong)
		problem(t, err, 400, admin.CodeInvalid)
	}
	_, err = c.CreateAdminKey(t.Context(), admin.NewAdminKey{Name: "x", Role: admin.Auditor, Tenant: "acm"})
	problem(t, err, 404, admin.CodeNoTenant)
	for _, wrong := range []string{"http://x", "https://", "https://u:p@x", "https://x/path", "x"} {
		if _, err := admin.NewRemoteClient(admin.Remote{URL: wrong}); err == nil {
			t.Errorf("%s is taken for a URL", wrong)
		}
	}
	stranger, err := admin.NewRemoteClient(admin.Remote{URL: r.url, Key: "wra_x"}) // which does not know the authority
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.Node(t.Context()); !errors.Is(err, admin.ErrUnreachable) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
}

// After ten different bad keys an address is told to wait; a good key is accepted all the same.
func TestBadAdminKeysAreThrottled(t *testing.T) {
	r := serveTLS(t, admintest.New(t, acme()))
	good := r.key(t, admin.Auditor, "")
	for i := range 10 {
		if answer, _ := r.ask(t, "GET", "/v1/node", "", "wra_bad"+string(rune('a'+i))); answer.StatusCode != 401 {
			t.Fatalf("bad key %d is answered by %d", i, answer.StatusCode)
		}
	}
	if answer, _ := r.ask(t, "GET", "/v1/node", "", "wra_another"); answer.StatusCode != 429 || answer.Header.Get("Retry-After") == "" {
		t.Errorf("got %d", answer.StatusCode)
	}
	if answer, _ := r.ask(t, "GET", "/v1/node", "", good); answer.StatusCode != 200 {
		t.Errorf("got %d", answer.StatusCode)
	}
}

// A key of a tenant's client is none of an operator, whatever its prefix.
func TestKeysOfClientsAreNoAdminKeys(t *testing.T) {
	r := serveTLS(t, admintest.New(t, acme()))
	c := admin.NewClient(r.Serve(t))
	defer c.Close()
	made, err := c.CreateKey(t.Context(), "acme", admin.NewKey{Name: "ada", Roles: []string{"reader"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{made.Text, "wra_" + made.Text[3:]} {
		if answer, _ := r.ask(t, "GET", "/v1/node", "", key); answer.StatusCode != 401 {
			t.Errorf("got %d", answer.StatusCode)
		}
	}
}

// The certificate of a client says who it is, if the settings name it.
func TestCertificatesOfClients(t *testing.T) {
	h := admintest.New(t, acme())
	h.SetClients(tenant.AdminClient{Name: "spiffe://example/ci", Role: "deployer", Tenant: "acme"}, tenant.AdminClient{Name: "ada", Role: "auditor"})
	authority, dir := certtest.NewAuthority(t), t.TempDir()
	cfg := certificate.Config{Cert: dir + "/cert.pem", Key: dir + "/key.pem", ClientCA: dir + "/ca.pem"}
	certtest.Write(t, authority.Issue(t, &x509.Certificate{Subject: certtest.Name("server")}), cfg.Cert, cfg.Key)
	certtest.WriteCert(t, authority.Cert, cfg.ClientCA)
	files, err := certificate.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	at := h.ServeTLS(t, files.TLS())
	ask := func(from *certtest.Authority, template *x509.Certificate, path string) int {
		t.Helper()
		config := &tls.Config{RootCAs: authority.Pool(), Certificates: []tls.Certificate{from.Issue(t, template)}}
		c := &http.Client{Transport: admintest.Transport(t, &http.Transport{TLSClientConfig: config, DisableKeepAlives: true})}
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Do(q)
		if err != nil {
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	spiffe := &url.URL{Scheme: "spiffe", Host: "example", Path: "/ci"}
	for _, row := range []struct {
		from     *certtest.Authority
		template *x509.Certificate
		path     string
		status   int
	}{
		{authority, &x509.Certificate{URIs: []*url.URL{spiffe}}, "/v1/tenants/acme", 200},
		{authority, &x509.Certificate{URIs: []*url.URL{spiffe}}, "/v1/top", 403},
		{authority, &x509.Certificate{Subject: certtest.Name("ada")}, "/v1/top", 200},
		{authority, &x509.Certificate{Subject: certtest.Name("ada"), DNSNames: []string{"other.example"}}, "/v1/top", 401}, // a common name counts alone only
		{authority, &x509.Certificate{Subject: certtest.Name("eve")}, "/v1/top", 401},
		{certtest.NewAuthority(t), &x509.Certificate{Subject: certtest.Name("ada")}, "/v1/top", 0},
	} {
		if got := ask(row.from, row.template, row.path); got != row.status {
			t.Errorf("%v %v at %s: got %d, want %d", row.template.Subject, row.template.URIs, row.path, got, row.status)
		}
	}
}
