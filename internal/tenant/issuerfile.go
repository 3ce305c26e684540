package tenant

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/internal/oauth"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/strict"
)

// What the file of a tenant says of its clients.
type (
	authFile struct {
		Anonymous []string     `yaml:"anonymous" check:"object name" doc:"the roles of clients without a key or token; default: none, which refuses them"`
		Scopes    []string     `yaml:"scopes,nonempty" check:"scope" doc:"the scopes that clients are asked to sign in for; default: those of all rules"`
		Issuers   []issuerFile `yaml:"issuers,nonempty" unique:"Issuer" doc:"the OAuth issuers whose access tokens are accepted; default: none"`
		MTLS      *mtlsFile    `yaml:"mtls" doc:"the certificates of clients that are accepted where the server speaks TLS itself; default: none"`
	}
	issuerFile struct {
		Issuer        string              `yaml:"issuer,required" check:"line" doc:"the URL of the issuer, exactly as its tokens have it in iss"`
		Audiences     []string            `yaml:"audiences,nonempty" check:"line" doc:"what tokens may have in aud beside the URL of the endpoint, for issuers that ignore the parameter resource"`
		Typ           []string            `yaml:"typ,nonempty" check:"line" doc:"what the header typ of tokens may be; none is for tokens without it; default: at+jwt"`
		Roles         []string            `yaml:"roles,nonempty" check:"object name" doc:"roles that every token of the issuer gives"`
		RolesClaim    string              `yaml:"roles_claim" check:"line" doc:"the claim with the values of map; a dot leads into an object, as in realm_access.roles; default: roles"`
		Map           map[string][]string `yaml:"map" keys:"line" check:"object name" doc:"roles by values of roles_claim"`
		Discovery     string              `yaml:"discovery" check:"line" doc:"the URL of the issuer's metadata; default: where RFC 8414 and OpenID Connect have it"`
		Keys          string              `yaml:"jwks" check:"line" doc:"the URL of the issuer's keys; default: jwks_uri of its metadata"`
		Introspection *introspectionFile  `yaml:"introspection" doc:"how the issuer is asked about opaque tokens (RFC 7662); default: those are refused"`
		Insecure      bool                `yaml:"insecure" doc:"whether the issuer may be reached by HTTP at a loopback address, for tests"`
	}
	introspectionFile struct {
		Endpoint   string `yaml:"endpoint" check:"line" doc:"default: introspection_endpoint of the issuer's metadata"`
		ClientID   string `yaml:"client_id,required" check:"line" doc:"by which the server authenticates itself to the issuer"`
		Secret     string `yaml:"secret" check:"object name" doc:"the name of the tenant's secret, set by 'wasmres secret set', that has the secret of client_id"`
		SecretFile string `yaml:"secret_file" check:"host path" doc:"the file with the secret of client_id, in place of secret"`
	}
)

// noType is, in a file, the type of tokens without the header typ.
const noType = "none"

// Validate checks that the issuer can be reached, and that its tokens may give a role.
func (f *issuerFile) Validate() error {
	for _, one := range []string{f.Issuer, f.Discovery, f.Keys} {
		if one == "" {
			continue
		}
		if err := oauth.CheckURL(one, f.Insecure); err != nil {
			return err
		}
	}
	if f.Introspection != nil && f.Introspection.Endpoint != "" {
		if err := oauth.CheckURL(f.Introspection.Endpoint, f.Insecure); err != nil {
			return err
		}
	}
	if strings.Contains(f.Issuer, "?") {
		return fmt.Errorf("the issuer %.100q has a query: an issuer is a URL without one", f.Issuer)
	}
	if len(f.Roles)+len(f.Map) == 0 {
		return errors.New("no token of the issuer gives a role: add roles, or map with values of roles_claim")
	}
	return nil
}

// Validate checks that there is one secret.
func (f *introspectionFile) Validate() error {
	if (f.Secret == "") == (f.SecretFile == "") {
		return errors.New("the server needs one secret to authenticate itself to the issuer: name secret or secret_file")
	}
	return nil
}

// checkRoles adds a problem for each name, in a list at a path of keys, that is no role.
func (r *tenantReader) checkRoles(names []string, roles map[string][]ruleFile, at ...string) {
	for i, role := range names {
		if _, ok := roles[role]; !ok {
			r.failName(append(slices.Clone(at), strconv.Itoa(i)), "role", role, maps.Keys(roles))
		}
	}
}

// issuer reads an issuer of a tenant with these roles.
func (r *tenantReader) issuer(index int, f *issuerFile, roles map[string][]ruleFile) Issuer {
	at := func(keys ...string) []string {
		return append([]string{"auth", "issuers", strconv.Itoa(index)}, keys...)
	}
	i := Issuer{
		URL: f.Issuer, Audiences: f.Audiences, Types: f.Typ, Roles: f.Roles, RolesClaim: f.RolesClaim, Map: f.Map,
		Discovery: f.Discovery, Keys: f.Keys, Insecure: f.Insecure,
	}
	r.checkRoles(f.Roles, roles, at("roles")...)
	for _, value := range slices.Sorted(maps.Keys(f.Map)) {
		r.checkRoles(f.Map[value], roles, at("map", value)...)
	}
	if in := f.Introspection; in != nil {
		i.Introspection = &Introspection{URL: in.Endpoint, ClientID: in.ClientID, Secret: in.Secret}
		if in.SecretFile != "" {
			i.Introspection.SecretFile = r.path(in.SecretFile)
			if err := r.hasFile(i.Introspection.SecretFile); err != nil {
				r.missing = append(r.missing, i.Introspection.SecretFile)
				r.fail(at("introspection", "secret_file"), "there is no file %s: %v: write the secret there, or change the path", in.SecretFile, err)
			}
		}
	}
	return i
}

// checkIntrospection checks that at most one issuer is asked about opaque tokens: a token does not say whose it is, and no issuer
// may see those of another.
func (r *tenantReader) checkIntrospection(t *Tenant) {
	asked := ""
	for i := range t.Issuers {
		one := &t.Issuers[i]
		if one.Introspection == nil {
			continue
		}
		if asked != "" {
			r.fail([]string{"auth", "issuers", strconv.Itoa(i), "introspection"}, "the issuer %s is asked about opaque tokens already, which do not say whose they are: keep one", asked)
		}
		asked = one.URL
	}
}

// authFileOf returns what the file of a tenant says of its clients.
func authFileOf(t *Tenant) authFile {
	f := authFile{Anonymous: t.Anonymous, Scopes: t.Scopes}
	if c := t.Certificates; c != nil {
		f.MTLS = &mtlsFile{CA: c.Authorities, Map: c.Roles}
	}
	for i := range t.Issuers {
		is := &t.Issuers[i]
		one := issuerFile{
			Issuer: is.URL, Audiences: is.Audiences, Typ: is.Types, Roles: is.Roles, RolesClaim: is.RolesClaim, Map: is.Map,
			Discovery: is.Discovery, Keys: is.Keys, Insecure: is.Insecure,
		}
		if in := is.Introspection; in != nil {
			one.Introspection = &introspectionFile{Endpoint: in.URL, ClientID: in.ClientID, Secret: in.Secret, SecretFile: in.SecretFile}
		}
		f.Issuers = append(f.Issuers, one)
	}
	return f
}

// TokenTypes returns Types as [oauth.Issuer] has them.
func (i *Issuer) TokenTypes() []string {
	types := slices.Clone(i.Types)
	for at, one := range types {
		if one == noType {
			types[at] = ""
		}
	}
	return types
}

// SignInScopes returns the scopes that clients are asked to sign in for, sorted.
func (t *Tenant) SignInScopes() []string {
	if len(t.Scopes) > 0 {
		return t.Scopes
	}
	var scopes []string
	for _, role := range t.Roles {
		for _, rule := range role.Rules {
			if rule.Scope != "" {
				scopes = append(scopes, rule.Scope)
			}
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// scope returns s if it is a scope (RFC 6749 §3.3).
func scope(s string) (string, error) {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return "", fmt.Errorf("%q is no scope: a scope has visible ASCII characters, without quotes and backslashes", strict.Clip(s))
		}
	}
	if s == "" || len(s) > 256 {
		return "", errors.New("a scope has 1 to 256 characters")
	}
	return policy.Line(s)
}
