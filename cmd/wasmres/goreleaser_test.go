package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/wasmres/wasmres/internal/sourcetree"
)

// released is what templates of goreleaser's configuration have; they may call the functions of text/template alone.
var released = map[string]string{
	"Version": "1.2.3", "Os": "linux", "Arch": "amd64", "FullCommit": strings.Repeat("0f", 20),
	"CommitDate": "2026-11-29T10:00:00Z", "CommitTimestamp": "1796205600",
}

// TestGoreleaser compares the configuration with goreleaser's own schema, and with the files and templates that it names.
func TestGoreleaser(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(readFile(t, filepath.Join("testdata", "goreleaser", "schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := yaml.Unmarshal(readFile(t, filepath.Join(sourcetree.Root(), ".goreleaser.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(asJSON, &value); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(value); err != nil {
		t.Error(err)
	}
	forEachText(value, "", func(key, text string) { checkText(t, key, text) })
}

// forEachText calls f with each text in a value, and with the key of the innermost object that it is in.
func forEachText(value any, key string, f func(key, text string)) {
	switch v := value.(type) {
	case string:
		f(key, v)
	case []any:
		for _, one := range v {
			forEachText(one, key, f)
		}
	case map[string]any:
		for key, one := range v {
			forEachText(one, key, f)
		}
	}
}

// checkText reports a template that goreleaser could not run, and a file that does not exist.
func checkText(t *testing.T, key, text string) {
	t.Helper()
	var made bytes.Buffer
	parsed, err := template.New(text).Option("missingkey=error").Parse(text)
	if err == nil {
		err = parsed.Execute(&made, released)
	}
	if err != nil {
		t.Error(err)
		return
	}
	file := ""
	switch key {
	case "hooks": // a program of this repository, with arguments
		file, _, _ = strings.Cut(made.String(), " ")
	case "cmd": // goreleaser runs it in the folder dist
		file = strings.TrimPrefix(made.String(), "../")
	case "src", "main":
		file = made.String()
	}
	if file == "" || strings.HasPrefix(file, "dist-shared/") { // which the hook makes
		return
	}
	if _, err := os.Stat(filepath.Join(sourcetree.Root(), file)); err != nil {
		t.Error(err)
	}
}
