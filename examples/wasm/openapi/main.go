// Openapi serves the GET operations of an HTTP API as resources and templates, by the OpenAPI description in api.json.
// It is a part of the module: a provider says which templates it has before anything is granted, so it cannot read them
// from a file.
package main

import (
	_ "embed"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

//go:embed api.json
var description []byte

// watchEvery is how often an answer that a client follows is looked at.
const watchEvery = time.Minute

func init() {
	api, err := parse(description)
	if err != nil {
		panic("api.json: " + err.Error())
	}
	wasmres.Provider("openapi", api.Version).Title(api.Title).Describe(api.Description).Prefixes(scheme)
	wasmres.Ask("http", "sends GET requests to "+api.Server).Params(request(api.Server))
	for _, op := range api.Operations {
		serve(api, op)
	}
}

// serve registers an operation.
func serve(api *api, op *operation) {
	read := func(r *wasmres.Request) (wasmres.Content, error) { return read(r, api, op) }
	version := func(r *wasmres.Request) (string, error) { return version(r, api, op) }
	if len(op.Parameters) == 0 {
		wasmres.Resource(op.URI, read).
			Name(op.ID).Title(op.Summary).Describe(op.Description).MIME(op.MIME).Watch(watchEvery, version)
		return
	}
	route := wasmres.Template(op.URI, read).
		Name(op.ID).Title(op.Summary).Describe(op.Description).MIME(op.MIME).Watch(watchEvery, version)
	for _, p := range op.Parameters {
		if len(p.Values) > 0 {
			route.CompleteFrom(p.Variable, p.Values...)
		}
	}
}

// request returns what the provider asks the operator for: GET requests to the API's server.
func request(server string) string {
	at, err := url.Parse(server)
	if err != nil || at.Host == "" {
		return "{}"
	}
	rule := map[string]any{"hosts": []string{at.Hostname()}, "methods": []string{"GET"}, "schemes": []string{at.Scheme}}
	if port, err := strconv.Atoi(at.Port()); err == nil {
		rule["ports"] = []int{port}
	}
	b, err := json.Marshal(rule)
	if err != nil {
		return "{}"
	}
	return string(b)
}

func main() {}
