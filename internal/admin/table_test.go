package admin

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Each endpoint says all that the server needs to know of it.
func TestEndpointsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range endpoints {
		name := e.method + " " + e.path
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if len(e.may) == 0 || e.may[0] != Operator || e.handle == nil {
			t.Errorf("%s is not complete: an operator may do everything", name)
		}
		if isRead := e.method == http.MethodGet; isRead != (e.action == "") {
			t.Errorf("%s has the action %q: a write has one, and a read has none", name, e.action)
		}
		if e.own && e.isOfTenant() {
			t.Errorf("%s says own, which is for paths without {tenant}", name)
		}
	}
}

// The description has all endpoints and no others; each with the parameters of its path, a body where it takes one, and the
// headers of a write.
func TestTheDescriptionHasAllEndpoints(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	described := map[string]string{}
	for path, methods := range doc.Paths {
		for method, text := range methods {
			if method != "parameters" {
				described[strings.ToUpper(method)+" "+path] = string(methods["parameters"]) + string(text)
			}
		}
	}
	for _, e := range endpoints {
		name := e.method + " " + e.path
		text, ok := described[name]
		if !ok {
			t.Errorf("%s is not in openapi.json", name)
			continue
		}
		delete(described, name)
		for _, parameter := range regexp.MustCompile(`\{([a-z]+)\}`).FindAllStringSubmatch(e.path, -1) {
			if !strings.Contains(text, `parameters/`+parameter[1]+`"`) {
				t.Errorf("%s: openapi.json lacks the parameter %s", name, parameter[1])
			}
		}
		if isWrite := e.action != ""; isWrite != strings.Contains(text, "parameters/Idempotency-Key") {
			t.Errorf("%s: each write, and nothing else, takes an Idempotency-Key", name)
		}
		if !strings.Contains(text, `"default": {"$ref": "#/components/responses/Problem"}`) {
			t.Errorf("%s: openapi.json does not say that it answers problems", name)
		}
	}
	for name := range described {
		t.Errorf("openapi.json has %s, which is no endpoint", name)
	}
}
