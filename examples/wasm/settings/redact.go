package main

import (
	"fmt"

	"github.com/goccy/go-yaml"

	"github.com/wasmres/wasmres/guest-sdk/go/redact"
)

// redactTree replaces secrets in a tree of values: all that is below a key with the name of a secret, and the part of a
// text that has the shape of one.
func redactTree(v any) any {
	switch v := v.(type) {
	case string:
		return redact.Text(v)
	case []any:
		for i := range v {
			v[i] = redactTree(v[i])
		}
	case []map[string]any: // as package toml has them
		for i := range v {
			redactTree(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = redactValue(key, v[key])
		}
	case yaml.MapSlice:
		for i, item := range v {
			key, _ := item.Key.(string)
			v[i].Value = redactValue(key, item.Value)
		}
	}
	return v
}

func redactValue(key string, value any) any {
	if text, ok := value.(string); ok {
		return redact.Value(key, text)
	}
	if value != nil && redact.IsSecret(key, fmt.Sprint(value)) {
		return redact.Mark
	}
	return redactTree(value)
}
