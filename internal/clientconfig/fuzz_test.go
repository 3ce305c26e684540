package clientconfig_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"github.com/wasmres/wasmres/internal/clientconfig"
)

// FuzzJSON edits configurations in JSON, with and without comments.
func FuzzJSON(f *testing.F) { fuzzEdits(f, "claude-desktop", "mcpServers", decodeJSON) }

// FuzzTOML edits configurations in TOML.
func FuzzTOML(f *testing.F) {
	fuzzEdits(f, "codex", "mcp_servers", func(text []byte) (root map[string]any, err error) {
		return root, toml.Unmarshal(text, &root)
	})
}

// FuzzYAML edits configurations in YAML.
func FuzzYAML(f *testing.F) {
	fuzzEdits(f, "goose", "extensions", func(text []byte) (root map[string]any, err error) {
		return root, yaml.Unmarshal(text, &root)
	})
}

func decodeJSON(text []byte) (root map[string]any, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	plain, err := hujson.Standardize(bytes.Clone(text))
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber()
	return root, d.Decode(&root)
}

// fuzzEdits has a server added to, changed in and removed from a configuration. An edit that is not refused changes nothing
// but the entry, as a decoder sees it that the editor does not use.
func fuzzEdits(f *testing.F, id, table string, decode func([]byte) (map[string]any, error)) {
	files, _ := filepath.Glob("testdata/edits/*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	c, s := client(f, id), system(f)
	file := write(f, c, s, "")
	f.Fuzz(func(t *testing.T, text []byte) {
		rest := func(text []byte) map[string]any {
			root, err := decode(bytes.TrimPrefix(text, []byte("\ufeff")))
			if err != nil {
				t.Skip(err) // the other decoder refuses it
			}
			servers, ok := root[table].(map[string]any)
			if delete(servers, "notes"); ok && len(servers) == 0 || root[table] == nil {
				delete(root, table)
			}
			return root
		}
		for _, edit := range []func(*clientconfig.Document) (*clientconfig.Change, error){
			set(notes()),
			set(clientconfig.Server{Name: "notes", Command: "/wasmres", Args: []string{"run", "x"}, Env: map[string]string{"A": "b"}}),
			remove("notes"),
		} {
			if os.WriteFile(file, text, 0o600) != nil {
				t.Skip()
			}
			d, err := clientconfig.Open(c, s)
			if err != nil {
				return
			}
			before := rest(text)
			change, err := edit(d)
			if err != nil {
				continue
			}
			after := rest(change.After())
			if len(before)+len(after) > 0 && !reflect.DeepEqual(before, after) {
				t.Fatalf("before: %v\nafter: %v\n%s", before, after, change.Diff())
			}
			text = change.After()
		}
	})
}
