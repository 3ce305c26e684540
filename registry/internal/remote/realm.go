package remote

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/internal/lazyregexp"
)

// A registry with a private address may have its token server at another private address, as GitLab has. oras-go refuses such
// servers by their names, before it dials. So the challenge that it gets names a path of the registry in place of the server,
// and the guard sends the request for that path to the server: by https, and where [places] permit.

const (
	realmPath = "/v2/_wasmres/token/"
	maxRealms = 8 // of one registry
)

// realmForm matches the token server in a challenge.
var realmForm = lazyregexp.New(`(?i)\brealm="([^"\\]*)"`)

// adoptRealm replaces the token server in a challenge of the registry itself, if the registry has a private address.
func (e *endpoint) adoptRealm(resp *http.Response) {
	header := resp.Header.Get("WWW-Authenticate")
	at := realmForm.Get().FindStringSubmatchIndex(header)
	own := resp.Request.URL
	if resp.StatusCode != http.StatusUnauthorized || at == nil || !e.places.private.Load() || !e.places.isOwn(own.Hostname(), portOf(own)) {
		return
	}
	server, err := url.Parse(header[at[2]:at[3]])
	if err != nil || server.Scheme != "https" || e.places.isOwn(server.Hostname(), portOf(server)) {
		return
	}
	n := e.realm(*server)
	if n < 0 {
		return
	}
	stand := url.URL{Scheme: own.Scheme, Host: own.Host, Path: realmPath + strconv.Itoa(n), RawQuery: server.RawQuery}
	resp.Header.Set("WWW-Authenticate", header[:at[2]]+stand.String()+header[at[3]:])
}

// realm returns the number of a token server; -1 if the registry has named too many.
func (e *endpoint) realm(server url.URL) int {
	server.RawQuery, server.Fragment = "", ""
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, known := range e.realms {
		if known.String() == server.String() {
			return i
		}
	}
	if len(e.realms) == maxRealms {
		return -1
	}
	e.realms = append(e.realms, server)
	return len(e.realms) - 1
}

// tokenRequest returns the request to the token server for which req stands; nil if req is another one.
func (e *endpoint) tokenRequest(req *http.Request) *http.Request {
	number, ok := strings.CutPrefix(req.URL.Path, realmPath)
	n, err := strconv.Atoi(number)
	if !ok || err != nil || !e.places.isOwn(req.URL.Hostname(), portOf(req.URL)) {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if n < 0 || n >= len(e.realms) {
		return nil
	}
	server := e.realms[n]
	server.RawQuery = req.URL.RawQuery
	asked := req.Clone(req.Context())
	asked.URL, asked.Host = &server, server.Host
	return asked
}

// checkToken refuses redirects of a token server that another URL stands for.
func checkToken(resp *http.Response) error {
	if resp.StatusCode/100 != 3 {
		return nil
	}
	_ = resp.Body.Close()
	return refusedf("the token server of the registry redirected")
}
