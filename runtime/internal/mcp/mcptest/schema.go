package mcptest

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// The schemas say what a server of resources may send, a file for each revision. They hold what the specification's own
// schema demands of these messages, and more: no field of another revision where that would mislead, URIs with a scheme,
// base64 that decodes.
//
//go:embed schema/*.json
var schemas embed.FS

// Revisions returns the protocol revisions there is a schema for, oldest first.
func Revisions() []string {
	return []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
}

// CheckMessage holds one JSON-RPC message of a server to the schema of its revision. method is that of the request which
// message answers; message itself names the method of a notification.
func CheckMessage(revision, method string, message []byte) error {
	var m struct {
		Method string
		Error  json.RawMessage
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return err
	}
	name := method
	switch {
	case m.Method != "":
		name = m.Method
	case m.Error != nil:
		name = "error"
	}
	schema, err := definition(revision, name)
	if err != nil {
		return err
	}
	var instance any
	if err := json.Unmarshal(message, &instance); err != nil {
		return err
	}
	if err := schema.Validate(instance); err != nil {
		return fmt.Errorf("%s of revision %s: %w", name, revision, err)
	}
	return nil
}

// resolved keeps the schemas that definition has made, by revision and name.
var resolved sync.Map

func definition(revision, name string) (*jsonschema.Resolved, error) {
	key := revision + " " + name
	if kept, ok := resolved.Load(key); ok {
		return kept.(*jsonschema.Resolved), nil
	}
	text, err := schemas.ReadFile("schema/" + revision + ".json")
	if err != nil {
		return nil, err
	}
	root := new(jsonschema.Schema)
	if err := json.Unmarshal(text, root); err != nil {
		return nil, err
	}
	if root.Defs[name] == nil {
		return nil, fmt.Errorf("revision %s has no message %q", revision, name)
	}
	root.Ref = "#/$defs/" + strings.ReplaceAll(name, "/", "~1")
	schema, err := root.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema of %s in revision %s: %w", name, revision, err)
	}
	resolved.Store(key, schema)
	return schema, nil
}
