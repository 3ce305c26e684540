package abi

import (
	"bytes"
	"encoding/json"
	"strings"
)

// The prefixes of the keys of _meta that the host sets.
const (
	hostMeta    = "io.github.wasmres"
	projectMeta = "dev.wasmres"
)

// IsReservedMeta reports whether key, of a _meta object, is reserved to MCP or to the host. A key is reserved to MCP
// where the second label of its prefix is "modelcontextprotocol" or "mcp", as in "io.modelcontextprotocol/name" and
// "dev.mcp.tools/name" (MCP 2026-07-28, basic, _meta). Letter case does not count, as it does not for clients that decode with
// encoding/json. The host passes such keys neither to guests nor to clients.
func IsReservedMeta(key []byte) bool {
	prefix, _, ok := bytes.Cut(key, []byte("/"))
	if !ok {
		return false
	}
	if bytes.EqualFold(prefix, []byte(hostMeta)) || bytes.EqualFold(prefix, []byte(projectMeta)) {
		return true
	}
	_, rest, _ := bytes.Cut(prefix, []byte("."))
	second, _, _ := bytes.Cut(rest, []byte("."))
	return bytes.EqualFold(second, []byte("modelcontextprotocol")) || bytes.EqualFold(second, []byte("mcp"))
}

// WithoutReservedMeta returns object, a valid JSON object or empty, without the members whose keys are reserved. It is
// empty when no other member is left.
func WithoutReservedMeta(object string) string {
	if !strings.ContainsAny(object, "/\\") { // no key has a prefix, not even one written with escapes
		return object
	}
	reserved := ReservedMeta(object)
	if len(reserved) == 0 {
		return object
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		return ""
	}
	for _, key := range reserved {
		delete(members, key)
	}
	if len(members) == 0 {
		return ""
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return ""
	}
	return string(rest)
}

// ReservedMeta returns the keys of object, a valid JSON object or empty, that are reserved, in their order.
func ReservedMeta(object string) (reserved []string) {
	d := json.NewDecoder(strings.NewReader(object))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return reserved
		}
		if key, ok := name.(string); ok && IsReservedMeta([]byte(key)) {
			reserved = append(reserved, key)
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return reserved
		}
	}
	return reserved
}
