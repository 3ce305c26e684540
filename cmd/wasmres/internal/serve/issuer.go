package serve

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/oauth"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/bearer"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/runtime"
)

// openIssuer has clients show access tokens of an OAuth issuer. The server is one tenant, whose only endpoint is the audience, and whose
// only role permits everything.
func (p *operation) openIssuer(c *cli.Context, o *runtime.ServerOptions, logger *slog.Logger) error {
	issuer, audience := c.String("issuer"), c.String("audience")
	switch {
	case issuer == "" && audience == "":
		return nil
	case issuer == "":
		return cli.Usagef(c, "--issuer is missing: --audience is for tokens of an OAuth issuer")
	case audience == "":
		return cli.Usagef(c, "--audience is missing: it is the URL of this server, as https://mcp.example.com/mcp, which tokens must be for")
	case c.String("tokens") != "":
		return cli.Usagef(c, "--issuer excludes --tokens: clients show tokens of one kind")
	}
	if err := oauth.CheckURL(issuer, true); err != nil {
		return cli.Usagef(c, "--issuer: %w", err)
	}
	at, err := url.Parse(audience)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Hostname() == "" || at.String() != at.Scheme+"://"+at.Host+"/mcp" || strings.ToLower(at.Host) != at.Host {
		return cli.Usagef(c, "--audience %.200q: write the URL at which clients reach this server, in lower case, as https://mcp.example.com/mcp", audience)
	}
	const id, everything = "run", "everything"
	of := &tenant.Tenant{
		ID: id, Owner: tenant.OwnerFiles,
		Roles:   []tenant.Role{{Name: everything, Rules: []tenant.Rule{{Actions: []string{"list", "read", "watch", "complete", "download"}, URIs: []string{"**"}}}}},
		Issuers: []tenant.Issuer{{URL: issuer, Roles: []string{everything}, Insecure: true}},
	}
	none := keys.NewSet(keys.Config{})
	verifier := oauth.New(oauth.Config{Logger: logger})
	set := bearer.New(bearer.Config{Keys: none, Verifier: verifier, Endpoint: audience, Logger: logger})
	p.closers = append(p.closers, set.Close, verifier.Close, none.Close)
	set.Update(&tenant.Snapshot{Generation: 1, Tenants: map[string]*tenant.Tenant{id: of}})
	metadata := (&oauth.Resource{URL: audience, Issuers: []string{issuer}, Name: "wasmres"}).Metadata()
	o.Auth = set.Authenticator(id)
	o.Metadata = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { oauth.ServeMetadata(w, r, metadata) })
	o.AllowedHosts = append(o.AllowedHosts, at.Hostname())
	return nil
}
