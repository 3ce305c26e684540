package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// scheme is what the URIs begin with.
const scheme = "api://"

// An api is what a description says of the operations that read.
type api struct {
	Title, Version, Description string
	Server                      string // the URL in front of all paths
	Operations                  []*operation
}

// An operation is a GET request that the API answers.
type operation struct {
	ID, Summary, Description string
	Path                     string // as in /books/{book-id}
	URI                      string // as in api://books/{book_id}{?fields}; a template if there are parameters
	MIME                     string
	Parameters               []parameter
}

// A parameter is a variable of an operation, in its path or in its query.
type parameter struct {
	Name     string   `json:"name"`
	In       string   `json:"in"`
	Required bool     `json:"required"`
	Values   []string `json:"-"` // all there are; none if any is allowed
	Variable string   `json:"-"` // its name in the template
	Ref      string   `json:"$ref"`
	Schema   struct {
		Enum []any `json:"enum"`
	} `json:"schema"`
}

// document is the part of an OpenAPI 3 description that is read.
type document struct {
	OpenAPI string `json:"openapi"`
	Info    struct{ Title, Version, Description string }
	Servers []struct{ URL string }
	Paths   map[string]struct {
		Parameters []parameter
		Get        *struct {
			OperationID          string `json:"operationId"`
			Summary, Description string
			Parameters           []parameter
			Responses            map[string]struct{ Content map[string]struct{} }
		}
	}
	Components struct{ Parameters map[string]parameter }
}

// parse reads a description in JSON.
func parse(description []byte) (*api, error) {
	var doc document
	if err := json.Unmarshal(description, &doc); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return nil, fmt.Errorf("openapi is %q: only descriptions of version 3 are read", doc.OpenAPI)
	}
	a := &api{
		Title: doc.Info.Title, Version: cmp.Or(doc.Info.Version, "1.0.0"),
		Description: cmp.Or(doc.Info.Description, doc.Info.Title),
	}
	if len(doc.Servers) > 0 {
		a.Server = strings.TrimSuffix(doc.Servers[0].URL, "/")
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		get := item.Get
		if get == nil {
			continue
		}
		op := &operation{ID: cmp.Or(get.OperationID, path), Summary: get.Summary, Description: get.Description, Path: path,
			MIME: mimeOf(get.Responses["200"].Content)}
		servable, err := op.setParameters(&doc, slices.Concat(item.Parameters, get.Parameters))
		if err != nil {
			return nil, fmt.Errorf("GET %s: %w", path, err)
		}
		if servable {
			op.setURI()
			a.Operations = append(a.Operations, op)
		}
	}
	return a, nil
}

// mimeOf returns the media type of an operation's answers: JSON, if it is one of several.
func mimeOf(content map[string]struct{}) string {
	if _, ok := content["application/json"]; ok || len(content) == 0 {
		return "application/json"
	}
	return slices.Sorted(maps.Keys(content))[0]
}

// setParameters sets those in the path and in the query; of two with one name and place the later counts. An operation
// that requires others, as fields of the header, cannot be a resource.
func (op *operation) setParameters(doc *document, all []parameter) (servable bool, err error) {
	for _, p := range all {
		if p.Ref != "" {
			name, isLocal := strings.CutPrefix(p.Ref, "#/components/parameters/")
			found, ok := doc.Components.Parameters[name]
			if !isLocal || !ok || found.Ref != "" {
				return false, fmt.Errorf("there is no parameter %q", name)
			}
			p = found
		}
		if p.Name == "" {
			return false, errors.New("a parameter has no name")
		}
		if p.In != "path" && p.In != "query" {
			if p.Required {
				return false, nil
			}
			continue
		}
		p.Variable = variable(p.Name)
		for _, value := range p.Schema.Enum {
			p.Values = append(p.Values, fmt.Sprint(value))
		}
		op.Parameters = slices.DeleteFunc(op.Parameters, func(earlier parameter) bool {
			return earlier.Name == p.Name && earlier.In == p.In
		})
		op.Parameters = append(op.Parameters, p)
	}
	return true, nil
}

// variable makes a parameter's name one that templates may have.
func variable(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' {
			return c
		}
		return '_'
	}, name)
}

// setURI makes the URI of the path and the query.
func (op *operation) setURI() {
	path, query := op.Path, []string(nil)
	for _, p := range op.Parameters {
		if p.In == "query" {
			query = append(query, p.Variable)
			continue
		}
		path = strings.ReplaceAll(path, "{"+p.Name+"}", "{"+p.Variable+"}")
	}
	op.URI = scheme + strings.TrimPrefix(path, "/")
	if len(query) > 0 {
		op.URI += "{?" + strings.Join(query, ",") + "}"
	}
}
