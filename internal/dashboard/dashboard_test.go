package dashboard_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/dashboard"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// A site is a server with pages.
type site struct {
	*admintest.Host
	url string
	tls *httptest.Server
}

func serve(tb testing.TB, h *admintest.Host, change func(*admin.Config)) *site {
	tb.Helper()
	cfg := h.Config()
	if change != nil {
		change(&cfg)
	}
	api, err := admin.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	pages, err := dashboard.New(dashboard.Config{API: api})
	if err != nil {
		tb.Fatal(err)
	}
	checkTraffic(tb, pages)
	server := httptest.NewTLSServer(pages)
	tb.Cleanup(server.Close)
	return &site{h, server.URL, server}
}

// checkTraffic holds what pages ask of the API against its description, except in benchmarks, whose times it would be in.
func checkTraffic(tb testing.TB, pages *dashboard.Handler) {
	if t, tests := tb.(*testing.T); tests {
		pages.Through(func(rt http.RoundTripper) http.RoundTripper { return admintest.Transport(t, rt) })
	}
}

// key makes an admin key.
func (s *site) key(tb testing.TB, role admin.Role, tenantID string) (id, text string) {
	tb.Helper()
	k := &tenant.AdminKey{Name: "of " + string(role), Role: string(role), Tenant: tenantID, Created: time.Now()}
	text, k.ID, k.SHA256 = tokens.NewAdmin()
	if _, err := s.Apply(tb.Context(), tenant.Change{Actor: "test", SetAdminKeys: []*tenant.AdminKey{k}}); err != nil {
		tb.Fatal(err)
	}
	return k.ID, text
}

// A browser follows redirections and keeps cookies.
type browser struct {
	*http.Client
	site *site
}

func (s *site) browser(tb testing.TB) *browser {
	tb.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return &browser{&http.Client{Transport: s.tls.Client().Transport, Jar: jar}, s}
}

// signedIn returns the browser of a person with a role.
func (s *site) signedIn(tb testing.TB, role admin.Role, tenantID string) *browser {
	tb.Helper()
	_, text := s.key(tb, role, tenantID)
	b := s.browser(tb)
	if status, page := b.post(tb, "/ui/sign-in", url.Values{"key": {text}}); status != http.StatusOK || !strings.Contains(page, "Sign out") {
		tb.Fatalf("signing in: got %d %s", status, page)
	}
	return b
}

func (b *browser) do(tb testing.TB, r *http.Request) (*http.Response, string) {
	tb.Helper()
	answer, err := b.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return answer, string(text)
}

func (b *browser) get(tb testing.TB, path string) (int, string) {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, b.site.url+path, nil)
	if err != nil {
		tb.Fatal(err)
	}
	answer, text := b.do(tb, r)
	return answer.StatusCode, text
}

func (b *browser) post(tb testing.TB, path string, form url.Values) (int, string) {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, b.site.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		tb.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.site.url)
	answer, text := b.do(tb, r)
	return answer.StatusCode, text
}

func TestSignIn(t *testing.T) {
	s := serve(t, admintest.New(t, &tenant.Tenant{ID: "acme"}), nil)
	id, text := s.key(t, admin.Operator, "")
	b := s.browser(t)
	if _, page := b.get(t, "/ui/tenants?q=ac"); !strings.Contains(page, `name="next" value="/ui/tenants?q=ac"`) || strings.Contains(page, "acme") {
		t.Fatalf("without a cookie: got %s", page)
	}
	if status, page := b.post(t, "/ui/sign-in", url.Values{"key": {text + "x"}}); status != http.StatusUnauthorized || !strings.Contains(page, `role="alert"`) {
		t.Fatalf("with a wrong key: got %d %s", status, page)
	}
	if status, page := b.post(t, "/ui/sign-in", url.Values{"key": {" " + text + "\n"}, "next": {"/ui/tenants?q=ac"}}); status != http.StatusOK || !strings.Contains(page, ">acme</a>") {
		t.Fatalf("with a right key: got %d %s", status, page)
	}
	if _, err := s.Apply(t.Context(), tenant.Change{Actor: "test", RemoveAdminKeys: []string{id}}); err != nil {
		t.Fatal(err)
	}
	if _, page := b.get(t, "/ui/tenants"); !strings.Contains(page, "Admin key<input") {
		t.Fatalf("after the key was revoked: got %s", page)
	}
}

func TestSignOut(t *testing.T) {
	s := serve(t, admintest.New(t), nil)
	b := s.signedIn(t, admin.Operator, "")
	at, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	kept := b.Jar.Cookies(at)
	b.post(t, "/ui/sign-out", nil)
	b.Jar.SetCookies(at, kept) // as if a copy were used
	if _, page := b.get(t, "/ui/"); !strings.Contains(page, "Admin key<input") {
		t.Errorf("the cookie is good after signing out: got %s", page)
	}
}

func TestCookieAndHeaders(t *testing.T) {
	s := serve(t, admintest.New(t), nil)
	_, text := s.key(t, admin.Operator, "")
	c := s.tls.Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := c.PostForm(s.url+"/ui/sign-in", url.Values{"key": {text}, "next": {"https://evil.example/ui/"}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	cookies := answer.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("got the cookies %v", cookies)
	}
	k := cookies[0]
	if k.Name != "__Host-wasmres" || !k.HttpOnly || !k.Secure || k.SameSite != http.SameSiteStrictMode || k.Path != "/" || k.Domain != "" || k.MaxAge != 8*3600 {
		t.Errorf("got the cookie %v", k)
	}
	if to := answer.Header.Get("Location"); to != "/ui/" {
		t.Errorf("after signing in: got the location %q", to)
	}
	policy := answer.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "style-src 'self'", "script-src 'self'", "connect-src 'self'", "img-src 'self'", "form-action 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy %q has no %s", policy, part)
		}
	}
}

// Forms that pages of other sites send change nothing.
func TestForeignForms(t *testing.T) {
	s := serve(t, admintest.New(t), nil)
	b := s.signedIn(t, admin.Operator, "")
	for name, header := range map[string]http.Header{
		"another origin":                      {"Origin": {"https://evil.example"}},
		"no origin":                           {"Origin": {"null"}},
		"another site":                        {"Sec-Fetch-Site": {"cross-site"}, "Origin": {s.url}},
		"another port of the same machine":    {"Sec-Fetch-Site": {"same-site"}, "Origin": {"https://127.0.0.1:1"}},
		"an origin that begins like this one": {"Origin": {s.url + ".evil.example"}},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/ui/sign-out", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		if answer, _ := b.do(t, r); answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s: got %d", name, answer.StatusCode)
		}
	}
	if _, page := b.get(t, "/ui/"); !strings.Contains(page, "Sign out") {
		t.Error("a foreign form has signed the person out")
	}
}

func TestRedirectsStayHere(t *testing.T) {
	s := serve(t, admintest.New(t), nil)
	b := s.browser(t)
	for _, next := range []string{"//evil.example/ui/", "https://evil.example/ui/", "/\\evil.example", "/ui/\r\nX: y", "javascript:alert(1)//ui/", "/v1/node", ""} {
		if _, page := b.get(t, "/ui/sign-in?next="+url.QueryEscape(next)); !strings.Contains(page, `name="next" value="/ui/"`) {
			t.Errorf("%q: got %s", next, page)
		}
	}
}

// People of one tenant see that one alone.
func TestTenantsOfOthersAreHidden(t *testing.T) {
	s := serve(t, admintest.New(t, &tenant.Tenant{ID: "acme"}, &tenant.Tenant{ID: "beta"}), nil)
	for _, role := range []admin.Role{admin.TenantAdmin, admin.Deployer, admin.Auditor} {
		b := s.signedIn(t, role, "beta")
		if _, page := b.get(t, "/ui/"); !strings.Contains(page, "<h1>beta</h1>") {
			t.Errorf("%s: the first page is %s", role, page)
		}
		if _, page := b.get(t, "/ui/tenants"); !strings.Contains(page, ">beta</a>") || strings.Contains(page, ">acme</a>") {
			t.Errorf("%s: the tenants are %s", role, page)
		}
		if status, page := b.get(t, "/ui/tenants/acme"); status != http.StatusForbidden {
			t.Errorf("%s: another tenant: got %d %s", role, status, page)
		}
	}
}

// What pages show is text: markup is escaped, and what is not seen is made visible.
func TestHostileTexts(t *testing.T) {
	h := admintest.New(t, &tenant.Tenant{ID: "acme"})
	h.SetProblems(map[string]string{"acme": "<script>alert(1)</script>\u202egnp.exe\x1b[31m\x00\"' onload=x " + strings.Repeat("<", 9000)})
	b := serve(t, h, nil).signedIn(t, admin.Operator, "")
	_, page := b.get(t, "/ui/tenants/acme")
	for _, bad := range []string{"<script>alert", "\u202e", "\x1b", "\x00", "onload=x\""} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(page, `\u202egnp.exe\x1b[31m`) {
		t.Errorf("what is not seen is not shown: %s", page)
	}
	if len(page) > maxPage {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// maxPage is the most that a page may have, in bytes.
const maxPage = 30 << 10

// crowd makes tenants.
func crowd(tb testing.TB, n int) *admintest.Host {
	tb.Helper()
	tenants := make([]*tenant.Tenant, n)
	for i := range tenants {
		tenants[i] = &tenant.Tenant{ID: fmt.Sprintf("tenant-with-a-name-of-some-length-%05d", i)}
	}
	return admintest.New(tb, tenants...)
}

func TestPagesOfManyTenantsAreSmall(t *testing.T) {
	b := serve(t, crowd(t, 5000), nil).signedIn(t, admin.Operator, "")
	for _, path := range []string{"/ui/", "/ui/tenants", "/ui/tenants?q=0499", "/ui/keys", "/ui/usage", "/ui/ledger", "/ui/tenants/tenant-with-a-name-of-some-length-00042"} {
		status, page := b.get(t, path)
		if status != http.StatusOK || len(page) > maxPage {
			t.Errorf("%s: got %d with %d bytes", path, status, len(page))
		}
	}
	_, page := b.get(t, "/ui/tenants")
	if n := strings.Count(page, `<th scope="row">`); n != 50 || !strings.Contains(page, `rel="next"`) {
		t.Errorf("got %d tenants on the first page", n)
	}
	if _, page := b.get(t, "/ui/tenants?q=04999"); strings.Count(page, `<th scope="row">`) != 1 {
		t.Errorf("the search found %s", page)
	}
}

func BenchmarkPages(b *testing.B) {
	s := serve(b, crowd(b, 5000), nil)
	browser := s.signedIn(b, admin.Operator, "")
	for name, path := range map[string]string{"node": "/ui/", "tenants": "/ui/tenants", "search": "/ui/tenants?q=0499", "keys": "/ui/keys", "usage": "/ui/usage", "ledger": "/ui/ledger", "tenant": "/ui/tenants/tenant-with-a-name-of-some-length-00042"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if status, _ := browser.get(b, path); status != http.StatusOK {
					b.Fatal(status)
				}
			}
		})
	}
}
