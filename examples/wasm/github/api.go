package main

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/wasmres/wasmres/examples/wasm/fetch"
	"github.com/wasmres/wasmres/examples/wasm/uripath"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// Media types of the API: a file as it is, and all else.
const (
	raw   = "application/vnd.github.raw+json"
	plain = "application/vnd.github+json"
)

// repository returns the URL of an owner's repository in the API. Its name is configured: forks have the name of what
// they are forks of.
func repository(r *wasmres.Request, owner string) (string, error) {
	name, ok := r.Config("repository")
	if !ok || !isSegment(name) {
		return "", wasmres.Unavailable("configure the name of the repository, as with --config repository=wasmres", 0)
	}
	if !isSegment(owner) {
		return "", wasmres.Invalid("not the name of an owner")
	}
	api, ok := r.Config("api")
	if !ok {
		api = "https://api.github.com"
	}
	return strings.TrimSuffix(api, "/") + "/repos/" + owner + "/" + name, nil
}

// branchOf returns the branch of a request. URIs have a colon for each slash in its name: the host refuses encoded
// slashes, and Git has no branch with a colon.
func branchOf(r *wasmres.Request) string { return strings.ReplaceAll(r.Var("branch"), ":", "/") }

// isSegment reports whether a name is one that owners and repositories may have.
func isSegment(name string) bool {
	return name != "" && strings.Trim(name, ".") != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.", c)
	})
}

// contents returns what the API has for a path of a request's branch: bytes of a file, or a folder in JSON.
func contents(r *wasmres.Request, path string) (*wasmres.HTTPResponse, []byte, error) {
	repo, err := repository(r, r.Var("owner"))
	if err != nil {
		return nil, nil, err
	}
	at := repo + "/contents/" + escape(path) + "?" + url.Values{"ref": {branchOf(r)}}.Encode()
	return get(r, at, raw)
}

// get sends a request to the API.
func get(r *wasmres.Request, at, accept string) (*wasmres.HTTPResponse, []byte, error) {
	resp, err := fetch.Get(r, at, wasmres.HTTPField{Name: "Accept", Value: accept},
		wasmres.HTTPField{Name: "X-GitHub-Api-Version", Value: "2022-11-28"})
	if err != nil {
		return nil, nil, err
	}
	body, err := fetch.Body(resp)
	return resp, body, err
}

// decode reads JSON of the API.
func decode[T any](body []byte) (value T, err error) {
	if err := json.Unmarshal(body, &value); err != nil {
		return value, wasmres.Unavailable("the server's answer is not of GitHub's API", 0).Because(err)
	}
	return value, nil
}

// escape writes a path as it stands in a URL.
func escape(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// uriOf is the URI of a file.
func uriOf(owner, branch, path string) string {
	return "github://repo/" + owner + "/" + uripath.EscapeSegment(strings.ReplaceAll(branch, "/", ":")) + "/" + uripath.Escape(path)
}
