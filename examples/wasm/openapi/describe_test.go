package main

import (
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	a, err := parse([]byte(`{"openapi": "3.0.3", "servers": [{"url": "https://x.example.org/"}], "paths": {
		"/a": {"parameters": [{"name": "q", "in": "query"}, {"name": "h", "in": "header"}],
			"get": {"parameters": [{"name": "q", "in": "query", "required": true, "schema": {"enum": [1, 2]}}]}},
		"/b/{x-y}/{z}": {"get": {"operationId": "b", "parameters": [
			{"name": "x-y", "in": "path", "required": true}, {"name": "z", "in": "path", "required": true}],
			"responses": {"200": {"content": {"text/csv": {}, "text/plain": {}}}}}},
		"/c": {"get": {"parameters": [{"name": "X-Key", "in": "header", "required": true}]}},
		"/d": {"put": {}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got [][3]string
	for _, op := range a.Operations {
		got = append(got, [3]string{op.ID, op.URI, op.MIME})
	}
	want := [][3]string{{"/a", "api://a{?q}", "application/json"}, {"b", "api://b/{x_y}/{z}", "text/csv"}}
	if !reflect.DeepEqual(got, want) || a.Server != "https://x.example.org" {
		t.Errorf("got %q of %s", got, a.Server)
	}
	if p := a.Operations[0].Parameters; len(p) != 1 || !p[0].Required || !reflect.DeepEqual(p[0].Values, []string{"1", "2"}) {
		t.Errorf("got %+v", p)
	}
}

func TestParseRefuses(t *testing.T) {
	for description, want := range map[string]string{
		`{`:                   "unexpected end",
		`{}`:                  "version 3",
		`{"swagger": "2.0"}`:  "version 3",
		`{"openapi": "4.0.0"`: "unexpected end",
		`{"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"$ref": "#/components/parameters/x"}]}}}}`:                  "GET /a: there is no parameter",
		`{"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"$ref": "x"}]}}}, "components": {"parameters": {"x": {}}}}`: "no parameter",
		`{"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"in": "path"}]}}}}`:                                         "GET /a: a parameter has no name",
	} {
		if _, err := parse([]byte(description)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", description, err, want)
		}
	}
}

// FuzzParse: of any description each operation has a URI of the scheme, and each parameter a variable.
func FuzzParse(f *testing.F) {
	f.Add(description)
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parse(b)
		if err != nil {
			return
		}
		for _, op := range a.Operations {
			if !strings.HasPrefix(op.URI, scheme) {
				t.Errorf("got the URI %q", op.URI)
			}
			for _, p := range op.Parameters {
				if p.Variable == "" {
					t.Errorf("%s: a parameter has no variable", op.URI)
				}
			}
		}
	})
}
