package main

import (
	"net/url"
	"strings"

	"github.com/wasmres/wasmres/examples/wasm/fetch"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// read answers with what the API answers.
func read(r *wasmres.Request, a *api, op *operation) (wasmres.Content, error) {
	resp, body, err := ask(r, a, op)
	if err != nil {
		return wasmres.Content{}, err
	}
	c, _ := fetch.Content(body)
	if mime := fetch.MIME(resp); mime != "" {
		c = c.MIME(mime)
	}
	return c.ETag(fetch.ETag(resp, body)), nil
}

// version names the version of an answer.
func version(r *wasmres.Request, a *api, op *operation) (string, error) {
	resp, body, err := ask(r, a, op)
	if err != nil {
		return "", err
	}
	return fetch.ETag(resp, body), nil
}

// ask sends the request of an operation.
func ask(r *wasmres.Request, a *api, op *operation) (*wasmres.HTTPResponse, []byte, error) {
	at, err := address(r, a, op)
	if err != nil {
		return nil, nil, err
	}
	resp, err := fetch.Get(r, at, wasmres.HTTPField{Name: "Accept", Value: op.MIME})
	if err != nil {
		return nil, nil, err
	}
	body, err := fetch.Body(resp)
	return resp, body, err
}

// address is the URL of an operation with the values of a request.
func address(r *wasmres.Request, a *api, op *operation) (string, error) {
	server, ok := r.Config("server")
	if !ok {
		server = a.Server
	}
	if !strings.HasPrefix(server, "https://") && !strings.HasPrefix(server, "http://") {
		return "", wasmres.Unavailable("configure the server, as with --config server=https://api.example.org/v1", 0)
	}
	path, query := op.Path, url.Values{}
	for _, p := range op.Parameters {
		value := r.Var(p.Variable)
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case value != "":
			query.Set(p.Name, value)
		case p.Required:
			return "", wasmres.Invalid("the parameter " + p.Variable + " is required")
		}
	}
	at := strings.TrimSuffix(server, "/") + path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	return at, nil
}
