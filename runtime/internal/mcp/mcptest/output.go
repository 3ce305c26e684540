package mcptest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// CheckOutput holds the structured content of a result of tools/call to the output schema that tools/list gives the tool.
// Both are JSON-RPC responses. A tool without an output schema must have no structured content.
func CheckOutput(tools, tool string, result []byte) error {
	var list struct {
		Result struct {
			Tools []struct {
				Name         string
				OutputSchema *jsonschema.Schema
			}
		}
	}
	var answer struct {
		Result struct{ StructuredContent any }
	}
	if err := errors.Join(json.Unmarshal([]byte(tools), &list), json.Unmarshal(result, &answer)); err != nil {
		return err
	}
	for _, t := range list.Result.Tools {
		if t.Name != tool {
			continue
		}
		if t.OutputSchema == nil || answer.Result.StructuredContent == nil {
			return without(t.OutputSchema, answer.Result.StructuredContent)
		}
		schema, err := t.OutputSchema.Resolve(nil)
		if err != nil {
			return fmt.Errorf("output schema of %s: %w", tool, err)
		}
		return schema.Validate(answer.Result.StructuredContent)
	}
	return fmt.Errorf("there is no tool %q", tool)
}

// without checks a tool that lacks an output schema, structured content, or both.
func without(schema *jsonschema.Schema, content any) error {
	switch {
	case schema != nil:
		return errors.New("a result has no structured content, but the tool has an output schema")
	case content != nil:
		return errors.New("a result has structured content, but the tool has no output schema")
	}
	return nil
}
