package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// An Issuer is one whose tokens are accepted. URL is required. It is not changed once a Verifier has it.
type Issuer struct {
	URL string // as tokens have it in iss, byte for byte
	// Audiences are further ones that its tokens may be for, beside the resource.
	Audiences []string
	// Types are what the header typ of its tokens may be; none is at+jwt alone. An empty one is that of tokens without typ.
	Types []string
	// Discovery is the URL of its metadata; empty for where the standards have it.
	Discovery string
	// Keys is the URL of its keys; empty for the one in its metadata.
	Keys string
	// Introspection is how it is asked about opaque tokens; nil refuses those.
	Introspection *Introspection
	// PublicOnly refuses to dial addresses that are not public, as for an Issuer that a stranger has named.
	PublicOnly bool
	// Insecure permits HTTP to loopback addresses.
	Insecure bool
}

// Introspection is how an issuer is asked about opaque tokens.
type Introspection struct {
	URL      string // empty for the one in the metadata
	ClientID string
	// Secret returns the secret of the client.
	Secret func() (string, error)
}

var accessToken = []string{"at+jwt"}

// types returns the types of tokens in lower case.
func (i *Issuer) types() []string {
	if len(i.Types) == 0 {
		return accessToken
	}
	kinds := make([]string, len(i.Types))
	for at, one := range i.Types {
		kinds[at] = kindOf(one)
	}
	return kinds
}

// CheckURL says why an issuer cannot be reached at a URL: it must be HTTPS or, if insecure, HTTP at a loopback address.
func CheckURL(text string, insecure bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(text) > maxText:
		return fmt.Errorf("%.100q is no URL of a server: write it like https://id.example.com", text)
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("%.100q does not begin with https://", text)
	case !isLoopback(u.Hostname()):
		return fmt.Errorf("%.100q is not encrypted: write https://", text)
	case !insecure:
		return fmt.Errorf("%.100q is not encrypted: write https://, or insecure: true for an issuer on this machine in a test", text)
	}
	return nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// discoveryURLs are where the metadata of an issuer may be, in the order in which they are tried: that of RFC 8414 §3.1, and that
// of OpenID Connect Discovery §4.
func (i *Issuer) discoveryURLs() []string {
	if i.Discovery != "" {
		return []string{i.Discovery}
	}
	u, err := url.Parse(i.URL)
	if err != nil {
		return nil
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	base := u.Scheme + "://" + u.Host
	return []string{
		base + "/.well-known/oauth-authorization-server" + path,
		base + path + "/.well-known/openid-configuration",
	}
}

// An issuerMetadata is what is used of the metadata of an issuer.
type issuerMetadata struct {
	Issuer        string `json:"issuer"`
	Keys          string `json:"jwks_uri"`
	Introspection string `json:"introspection_endpoint"`
}

// parseMetadata reads the metadata of an issuer (RFC 8414 §2), which must name it (§3.3).
func (i *Issuer) parseMetadata(text []byte) (*issuerMetadata, error) {
	var m issuerMetadata
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, errors.New("the metadata is no JSON object")
	}
	if m.Issuer != i.URL {
		return nil, fmt.Errorf("the metadata is that of the issuer %.100q", m.Issuer)
	}
	for _, one := range []string{m.Keys, m.Introspection} {
		if one == "" {
			continue
		}
		if err := CheckURL(one, i.Insecure); err != nil {
			return nil, err
		}
	}
	return &m, nil
}

// A place is where an issuer is asked. Issuers with equal places share keys.
type place struct {
	url, discovery, keys string
	publicOnly, insecure bool
}

func (i *Issuer) place() place { return place{i.URL, i.Discovery, i.Keys, i.PublicOnly, i.Insecure} }
