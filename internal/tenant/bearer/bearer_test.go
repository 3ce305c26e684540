package bearer_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/authtest"
	"github.com/wasmres/wasmres/internal/oauth"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/bearer"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

const (
	server   = "https://mcp.example:8443"
	resource = server + "/t/acme/mcp"
)

// acme returns a tenant that accepts tokens of issuers.
func acme(issuers ...tenant.Issuer) *tenant.Tenant {
	rule := func(scope, uri string, actions ...string) tenant.Rule {
		return tenant.Rule{Actions: actions, URIs: []string{uri}, Scope: scope}
	}
	return &tenant.Tenant{
		ID: "acme", Owner: tenant.OwnerFiles, Hosts: []string{"acme.example"}, Issuers: issuers,
		Roles: []tenant.Role{
			{Name: "canary", Rules: []tenant.Rule{rule("", "notes://canary", "read")}},
			{Name: "editor", Rules: []tenant.Rule{rule("drafts", "notes://drafts/**", "read", "watch"), rule("admin", "notes://drafts/a", "read")}},
			{Name: "reader", Rules: []tenant.Rule{rule("", "notes://public/**", "list", "read")}},
		},
	}
}

func trusted(i *authtest.Issuer) tenant.Issuer {
	return tenant.Issuer{
		URL: i.URL, Insecure: true, Roles: []string{"reader"}, Map: map[string][]string{"staff": {"editor"}, "tester": {"canary"}},
	}
}

// A world is a Set with a tenant.
type world struct {
	t       testing.TB
	set     *bearer.Set
	refused atomic.Int64
}

func newWorld(t testing.TB, of *tenant.Tenant, list ...*tenant.Key) *world {
	t.Helper()
	w := &world{t: t}
	k := keys.NewSet(keys.Config{Refused: func(string, netip.Addr) { w.refused.Add(1) }})
	v := oauth.New(oauth.Config{})
	w.set = bearer.New(bearer.Config{
		Keys: k, Verifier: v, ServerURL: server,
		Secret: func(_, name string) (secret.Value, error) {
			if name != "issuer" {
				return secret.Value{}, errors.New("no such secret")
			}
			return secret.New(authtest.Secret), nil
		},
	})
	t.Cleanup(func() { _, _, _ = w.set.Close(), v.Close(), k.Close() })
	w.update(of, list...)
	return w
}

func (w *world) update(of *tenant.Tenant, list ...*tenant.Key) {
	s := &tenant.Snapshot{Tenants: map[string]*tenant.Tenant{of.ID: of}, Keys: map[string]*tenant.Key{}}
	for _, k := range list {
		s.Keys[k.ID] = k
	}
	w.set.Update(s)
}

func credential(token string) auth.Credential {
	return auth.Credential{Authorization: "Bearer " + token, Address: netip.MustParseAddr("192.0.2.1")}
}

// ask authenticates a client, as a server does.
func (w *world) ask(c auth.Credential) (*auth.Identity, error) {
	a := w.set.Authenticator("acme")
	i, err := a.Authenticate(c)
	if errors.Is(err, auth.ErrPending) {
		i, err = a.(auth.Waiter).Await(context.Background(), c)
	}
	return i, err
}

func (w *world) must(token string) *auth.Identity {
	w.t.Helper()
	i, err := w.ask(credential(token))
	if err != nil {
		w.t.Fatal(err)
	}
	return i
}

func TestTokensGiveRolesAndScopes(t *testing.T) {
	i := authtest.New(t)
	w := newWorld(t, acme(trusted(i)))
	for name, c := range map[string]struct {
		token string
		reads string // of those below
		lacks string // for notes://drafts/a
	}{
		"no claim":          {i.Token(resource), "public", ""},
		"unknown value":     {i.Token(resource, "roles", "other"), "public", ""},
		"staff":             {i.Token(resource, "roles", []string{"staff"}), "public", "admin,drafts"},
		"staff with scope":  {i.Token(resource, "roles", []string{"staff"}, "scope", "drafts"), "public,drafts", ""},
		"scope alone":       {i.Token(resource, "scope", "drafts"), "public", ""},
		"by host":           {i.Token("https://acme.example:8443/mcp"), "public", ""},
		"no such host":      {i.Token("https://other.example:8443/mcp"), "", ""},
		"of another tenant": {i.Token(server + "/t/zoo/mcp"), "", ""},
	} {
		identity, err := w.ask(credential(c.token))
		if c.reads == "" {
			if !errors.Is(err, auth.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var reads []string
		for _, at := range []string{"public", "drafts"} {
			if identity.Permits(auth.Read, "notes://"+at+"/a") {
				reads = append(reads, at)
			}
		}
		lacks := strings.Join(identity.Lacks("", auth.Read, "notes://drafts/a"), ",")
		if strings.Join(reads, ",") != c.reads || lacks != c.lacks {
			t.Errorf("%s: reads %v, lacks %s", name, reads, lacks)
		}
		if identity.Principal().Subject != i.URL+"#ada" {
			t.Errorf("the subject is %s", identity.Principal().Subject)
		}
	}
	if n := i.Asked(authtest.KeysPath); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
	tester := w.must(i.Token(resource, "roles", "tester"))
	caller := auth.Caller{Identity: tester}
	if caller.SetVersion("7"); caller.Version != 7 {
		t.Error("a client with the role canary cannot choose a version")
	}
}

// A second request with a token costs neither a signature nor a request, and has the same identity.
func TestATokenIsVerifiedOnce(t *testing.T) {
	i := authtest.New(t)
	w := newWorld(t, acme(trusted(i)))
	token := i.Token(resource)
	first := w.must(token)
	i.Set(authtest.KeysPath, authtest.Hang)
	if again, err := w.set.Authenticator("acme").Authenticate(credential(token)); err != nil || again != first {
		t.Errorf("got %v, %v", again, err)
	}
	if other := w.must(i.Token(resource, "jti", "2")); other == first {
		t.Error("two tokens have one identity")
	}
}

func TestKeysAndTokensBesideEachOther(t *testing.T) {
	i, other := authtest.New(t), authtest.New(t)
	of := acme(trusted(i), trusted(other))
	text, k, err := keys.New(of, "ci", []string{"editor"}, keys.Options{})
	if err != nil {
		t.Fatal(err)
	}
	of.Anonymous = []string{"reader", "editor"}
	w := newWorld(t, of, k)
	if got := w.must(text); got.Principal().Subject != "ci" || !got.Permits(auth.Read, "notes://drafts/a") {
		t.Errorf("a key needs no scope: %+v", got)
	}
	anonymous, err := w.ask(auth.Credential{})
	if err != nil || anonymous.Permits(auth.Read, "notes://drafts/a") || len(anonymous.Lacks("", auth.Read, "notes://drafts/a")) != 2 {
		t.Errorf("a client that shows nothing has scopes: %v, %v", anonymous, err)
	}
	a, b := w.must(i.Token(resource)), w.must(other.Token(resource))
	if a.Principal().Subject == b.Principal().Subject {
		t.Error("the same subject of two issuers is one client")
	}
	forged := other.Key().Sign(nil, i.Claims(resource))
	for _, header := range []string{"Bearer " + forged, "Basic eDp5", "Bearer", "Bearer a b", "Bearer a, Bearer b", "Bearer \x00", "bearer opaque"} {
		if _, err := w.ask(auth.Credential{Authorization: header}); !errors.Is(err, auth.ErrInvalid) {
			t.Errorf("%.20q: %v", header, err)
		}
	}
	if n := w.refused.Load(); n != 7 {
		t.Errorf("%d credentials were counted as refused", n)
	}
}

// What changes the rights of a token ends its identity, and nothing else does.
func TestUpdatesEndIdentities(t *testing.T) {
	i, other := authtest.New(t), authtest.New(t)
	state := func() *tenant.Tenant { return acme(trusted(i), trusted(other)) }
	tokens := map[string]string{ // by what one cares for
		"reader":   i.Token(resource),
		"editor":   i.Token(resource, "roles", "staff"),
		"scope":    i.Token(resource, "roles", "staff", "scope", "drafts unused"),
		"host":     i.Token("https://acme.example:8443/mcp"),
		"both":     i.Token([]string{resource, "https://acme.example:8443/mcp"}),
		"audience": other.Token("mine"),
		"other":    other.Token(resource),
	}
	all := slices.Sorted(maps.Keys(tokens))
	for name, c := range map[string]struct {
		change func(*tenant.Tenant)
		ends   []string
	}{
		"nothing":            {func(*tenant.Tenant) {}, nil},
		"a provider":         {func(t *tenant.Tenant) { t.Providers = []tenant.Provider{{Name: "a"}} }, nil},
		"an origin":          {func(t *tenant.Tenant) { t.Origins = []string{"https://a.example"} }, nil},
		"scopes for sign-in": {func(t *tenant.Tenant) { t.Scopes = []string{"drafts"} }, nil},
		"another role":       {func(t *tenant.Tenant) { t.Roles[0].Rules[0].Scope = "drafts" }, nil},
		"one more role":      {func(t *tenant.Tenant) { t.Roles = append(t.Roles, tenant.Role{Name: "writer"}) }, nil},
		"one more host":      {func(t *tenant.Tenant) { t.Hosts = []string{"new.example", "acme.example"} }, nil},
		"one more issuer":    {func(t *tenant.Tenant) { t.Issuers = append(t.Issuers, tenant.Issuer{URL: "https://id.example"}) }, nil},
		"a role":             {func(t *tenant.Tenant) { t.Roles[1].Rules = t.Roles[1].Rules[:1] }, []string{"editor", "scope"}},
		"what a role sees":   {func(t *tenant.Tenant) { t.Roles[1].Rules[0].Providers = []string{"a"} }, []string{"editor", "scope"}},
		"the role of all":    {func(t *tenant.Tenant) { t.Roles = t.Roles[:2] }, all},
		"a host":             {func(t *tenant.Tenant) { t.Hosts = nil }, []string{"host"}},
		"an issuer":          {func(t *tenant.Tenant) { t.Issuers[1].Map = nil }, []string{"audience", "other"}},
		"an audience":        {func(t *tenant.Tenant) { t.Issuers[1].Audiences = nil }, []string{"audience", "other"}},
		"no issuer":          {func(t *tenant.Tenant) { t.Issuers = nil }, all},
		"one issuer less":    {func(t *tenant.Tenant) { t.Issuers = t.Issuers[:1] }, []string{"audience", "other"}},
		"the owner":          {func(t *tenant.Tenant) { t.Owner = tenant.OwnerAPI }, all},
		"disabled":           {func(t *tenant.Tenant) { t.Disabled = true }, all},
	} {
		first := state()
		first.Issuers[1].Audiences = []string{"mine"}
		w := newWorld(t, first)
		before := map[string]*auth.Identity{}
		for of, token := range tokens {
			before[of] = w.must(token)
		}
		next := state()
		next.Issuers[1].Audiences = []string{"mine"}
		c.change(next)
		asked := i.Asked(authtest.KeysPath)
		w.update(next)
		for of, identity := range before {
			goesOn := !slices.Contains(c.ends, of)
			if identity.Valid() != goesOn || isHeld(identity) != goesOn {
				t.Errorf("%s, token of %s: it goes on: %t", name, of, identity.Valid())
			}
			if again, err := w.set.Authenticator("acme").Authenticate(credential(tokens[of])); goesOn && (err != nil || again != identity) || again == identity && !goesOn {
				t.Errorf("%s, token of %s: then %v", name, of, err)
			}
		}
		if len(c.ends) == 0 && i.Asked(authtest.KeysPath) != asked {
			t.Errorf("%s: the keys of the issuer were fetched again", name)
		}
		w.update(first) // what has ended does not live again
		for of, identity := range before {
			if identity.Valid() && slices.Contains(c.ends, of) {
				t.Errorf("%s, token of %s: it is valid again", name, of)
			}
			w.must(tokens[of])
		}
	}
}

// Tokens that come while the tenant changes get identities that end with what is not so any more.
func TestUpdatesBesideRequests(t *testing.T) {
	i := authtest.New(t)
	with, without := acme(trusted(i)), acme(trusted(i))
	without.Roles = without.Roles[:2]
	w := newWorld(t, with)
	w.must(i.Token(resource))
	var all sync.WaitGroup
	given := make(chan *auth.Identity, 400)
	for n := range 4 {
		all.Go(func() {
			for m := range 100 {
				if identity, err := w.ask(credential(i.Token(resource, "jti", fmt.Sprint(n, m)))); err == nil {
					given <- identity
				}
			}
		})
	}
	for range 50 {
		w.update(without)
		w.update(with)
	}
	all.Wait()
	w.update(without)
	close(given)
	for identity := range given {
		if identity.Valid() {
			t.Fatal("an identity outlives its role")
		}
	}
}

// A token that is bound to a certificate is good for a client that has its key (RFC 8705).
func TestTokensOfCertificates(t *testing.T) {
	i := authtest.New(t)
	w := newWorld(t, acme(trusted(i)))
	mine, other := &x509.Certificate{Raw: []byte("mine")}, &x509.Certificate{Raw: []byte("other")}
	sum := sha256.Sum256(mine.Raw)
	token := i.Token(resource, "cnf", map[string]any{"x5t#S256": base64.RawURLEncoding.EncodeToString(sum[:])})
	for range 2 { // the second time it is known
		for shown, want := range map[*x509.Certificate]bool{nil: false, mine: true, other: false} {
			c := credential(token)
			if c.TLS = (&tls.ConnectionState{}); shown != nil {
				c.TLS.PeerCertificates = []*x509.Certificate{shown}
			}
			if _, err := w.ask(c); (err == nil) != want {
				t.Errorf("%v: %v", shown, err)
			}
		}
		if _, err := w.ask(credential(token)); !errors.Is(err, auth.ErrInvalid) {
			t.Errorf("without TLS: %v", err)
		}
	}
}

func TestOpaqueTokensAreAskedAboutOnce(t *testing.T) {
	i := authtest.New(t)
	by := trusted(i)
	by.Introspection = &tenant.Introspection{ClientID: authtest.ClientID, Secret: "issuer"}
	w := newWorld(t, acme(by))
	i.Know("good", i.Claims(resource, "active", true))
	var all sync.WaitGroup
	for range 20 {
		for _, token := range []string{"good", "bad"} {
			all.Go(func() {
				if _, err := w.ask(credential(token)); (err == nil) != (token == "good") {
					t.Errorf("%s: %v", token, err)
				}
			})
		}
	}
	all.Wait()
	if n := i.Asked(authtest.IntrospectionPath); n != 2 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

// What a client with an opaque token has begun goes on while the issuer says that the token is active and gives the same, and no
// longer. The leeway for clocks is 30 s, so that a token that has expired 29 s ago has a second to live.
func TestStreamsOfOpaqueTokens(t *testing.T) {
	for name, c := range map[string]struct {
		changes []any // in what the issuer says of the token in the end
		goesOn  bool
	}{
		"the same":      {nil, true},
		"not active":    {[]any{"active", false}, false},
		"another user":  {[]any{"sub", "bob"}, false},
		"fewer scopes":  {[]any{"scope", ""}, false},
		"another role":  {[]any{"roles", "staff"}, false},
		"for others":    {[]any{"aud", "https://other.example"}, false},
		"it has ended":  {[]any{"exp", time.Now().Add(-time.Hour).Unix()}, false},
		"not the token": {[]any{"token_type", "mac"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := authtest.New(t)
			by := trusted(i)
			by.Introspection = &tenant.Introspection{ClientID: authtest.ClientID, Secret: "issuer"}
			w := newWorld(t, acme(by))
			says := func(lasts time.Duration, changes ...any) map[string]any {
				exp := float64(time.Now().Add(lasts-30*time.Second).UnixMilli()) / 1000
				return i.Claims(resource, append([]any{"active", true, "scope", "drafts", "exp", exp}, changes...)...)
			}
			i.Know("token", says(time.Second))
			identity := w.must("token")
			ended, release := identity.Hold()
			defer release()
			i.Know("token", says(2*time.Second))
			i.Await(authtest.IntrospectionPath, 2)
			i.Know("token", says(time.Hour, c.changes...))
			i.Await(authtest.IntrospectionPath, 3)
			if c.goesOn {
				for !identity.Valid() { // the answer is on its way
					if ended.Err() != nil {
						t.Fatal("it has ended")
					}
					runtime.Gosched()
				}
				if again := w.must("token"); again.Principal().Subject != identity.Principal().Subject || i.Asked(authtest.IntrospectionPath) != 3 {
					t.Error("the issuer is asked again by a request")
				}
			} else if <-ended.Done(); identity.Valid() {
				t.Error("it is valid")
			}
		})
	}
}

// No issuer is asked about tokens of clients that have begun nothing, and of a closed Set.
func TestRenewalsEnd(t *testing.T) {
	i := authtest.New(t)
	by := trusted(i)
	by.Introspection = &tenant.Introspection{ClientID: authtest.ClientID, Secret: "issuer"}
	w := newWorld(t, acme(by))
	i.Know("token", i.Claims(resource, "active", true))
	ended, release := w.must("token").Hold()
	defer release()
	w.set.Close()
	<-ended.Done()
	if n := i.Asked(authtest.IntrospectionPath); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// An issuer that hangs holds those that wait for it, and no client whose token is known.
func TestAnIssuerThatHangs(t *testing.T) {
	i, slow := authtest.New(t), authtest.New(t)
	slow.Set(authtest.KeysPath, authtest.Hang)
	w := newWorld(t, acme(trusted(i), trusted(slow)))
	known := i.Token(resource)
	w.must(known)
	a := w.set.Authenticator("acme").(auth.Waiter)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for n := range 300 {
		all.Go(func() {
			_, err := a.Await(ctx, credential(slow.Token(resource, "jti", fmt.Sprint(n))))
			var unavailable *auth.UnavailableError
			if !errors.As(err, &unavailable) {
				t.Errorf("got %v", err)
			}
		})
	}
	slow.Await(authtest.KeysPath, 1)
	for range 100 {
		if _, err := a.Authenticate(credential(known)); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	all.Wait()
}

// An address that tries many tokens is refused without verifying them, and a client at it whose token is known is not.
func TestAnAddressThatTriesTokens(t *testing.T) {
	i := authtest.New(t)
	w := newWorld(t, acme(trusted(i)))
	known := i.Token(resource)
	w.must(known)
	stranger := authtest.NewKey(i.Key().ID, authtest.ES256)
	var tooMany *auth.TooManyError
	refused := 0
	for n := range 300 {
		_, err := w.ask(credential(stranger.Sign(nil, i.Claims(resource, "jti", fmt.Sprint(n)))))
		if errors.As(err, &tooMany) {
			refused++
		} else if !errors.Is(err, auth.ErrInvalid) {
			t.Fatal(err)
		}
	}
	if refused < 280 || tooMany.RetryAfter <= 0 {
		t.Errorf("%d of 300 were refused, the last until %v", refused, tooMany)
	}
	w.must(known)
	far := credential(i.Token(resource, "jti", "far"))
	far.Address = netip.MustParseAddr("192.0.2.2")
	if _, err := w.ask(far); err != nil {
		t.Errorf("from another address: %v", err)
	}
}

func TestMetadata(t *testing.T) {
	i := authtest.New(t)
	w := newWorld(t, acme(trusted(i)))
	for host, want := range map[string]string{"": resource, "acme.example": "https://acme.example:8443/mcp"} {
		var got struct {
			Resource string   `json:"resource"`
			Issuers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
			Methods  []string `json:"bearer_methods_supported"`
		}
		if err := json.Unmarshal(w.set.Metadata("acme", host), &got); err != nil {
			t.Fatal(err)
		}
		if got.Resource != want || len(got.Issuers) != 1 || got.Issuers[0] != i.URL || strings.Join(got.Scopes, " ") != "admin drafts" || got.Methods[0] != "header" {
			t.Errorf("%q: got %+v", host, got)
		}
	}
	if w.set.Metadata("acme", "other.example") != nil || w.set.Metadata("zoo", "") != nil {
		t.Error("there is metadata of what does not exist")
	}
	a := w.set.Authenticator("acme")
	for host, want := range map[string]string{
		"":                  server + "/.well-known/oauth-protected-resource/t/acme/mcp",
		"evil.example":      server + "/.well-known/oauth-protected-resource/t/acme/mcp",
		"ACME.example:8443": "https://acme.example:8443/.well-known/oauth-protected-resource/mcp",
	} {
		if got := a.Challenge(host); !strings.Contains(got, `resource_metadata="`+want+`"`) {
			t.Errorf("%s: got %s", host, got)
		}
	}
	if scopes := a.(auth.Scoped).Scopes(); len(scopes) != 2 {
		t.Errorf("got %v", scopes)
	}
}

// isHeld reports whether what is begun for an identity may go on.
func isHeld(i *auth.Identity) bool {
	ended, release := i.Hold()
	defer release()
	return ended.Err() == nil
}
