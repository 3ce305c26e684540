package serverjson_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/wasmres/wasmres/internal/serverjson"
)

// published is the schema as the registry publishes it, from its module v1.8.8, without the examples of package registries.
func published(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := os.ReadFile("testdata/2025-12-11.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.ID != serverjson.Schema {
		t.Fatalf("the schema is %s, want %s", schema.ID, serverjson.Schema)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func listing() serverjson.Listing {
	return serverjson.Listing{
		Name: "io.github.ada/notes", Description: "Notes as resources.", Version: "1.2.0", Remote: "https://{tenant_id}.example.com/mcp",
		Provider: serverjson.Provider{Reference: "ghcr.io/ada/notes:1.2.0@sha256:00", ABI: 1, Digest: "sha256:11"},
	}
}

func TestListingsFollowThePublishedSchema(t *testing.T) {
	schema := published(t)
	for name, change := range map[string]func(*serverjson.Listing){
		"a hosted one":       func(*serverjson.Listing) {},
		"without a variable": func(l *serverjson.Listing) { l.Remote = "https://notes.example.com/mcp" },
		"an image":           func(l *serverjson.Listing) { l.Remote, l.Image = "", "ghcr.io/ada/notes-server:1.2.0" },
		"a bundle": func(l *serverjson.Listing) {
			l.Remote, l.Bundle = "", serverjson.Bundle{URL: "https://github.com/ada/notes/releases/download/v1.2.0/notes.mcpb", SHA256: strings.Repeat("a0", 32)}
		},
		"all there is": func(l *serverjson.Listing) {
			l.Title, l.Website, l.Repository = "Notes", "https://example.com", "https://github.com/ada/notes"
			l.Image, l.Description = "ghcr.io/ada/notes-server:1.2.0", strings.Repeat("długi opis ", 30)
		},
	} {
		l := listing()
		change(&l)
		text, err := l.Marshal()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

// The schema refuses what the package would never write: otherwise the test above would show nothing.
func TestTheSchemaRefuses(t *testing.T) {
	schema := published(t)
	for _, text := range []string{
		`{}`, `{"name":"x","description":"d","version":"1"}`, `{"name":"a/b","description":"","version":"1"}`,
		`{"name":"a/b","description":"d","version":"1","packages":[{"registryType":"oci"}]}`,
	} {
		var doc any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func TestWhatTheRegistryWouldRefuse(t *testing.T) {
	for want, change := range map[string]func(*serverjson.Listing){
		"name":         func(l *serverjson.Listing) { l.Name = "notes" },
		"description":  func(l *serverjson.Listing) { l.Description = " " },
		"version":      func(l *serverjson.Listing) { l.Version = "^1.2.0" },
		"nothing that": func(l *serverjson.Listing) { l.Remote = "" },
		"SHA-256":      func(l *serverjson.Listing) { l.Bundle.URL = "https://example.com/a.mcpb" },
		"not a URL":    func(l *serverjson.Listing) { l.Website = "example" },
		"bytes":        func(l *serverjson.Listing) { l.Provider.Key = strings.Repeat("k", 5000) },
	} {
		l := listing()
		change(&l)
		if _, err := l.Marshal(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	l := listing()
	l.Version = "1.x"
	if _, err := l.Marshal(); err == nil {
		t.Error("a range was accepted as a version")
	}
}
