package policy

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Schema gives the JSON Schema of policy files, for editors. Where JSON Schema cannot say a rule, as that a secret a
// rule names must be there, only [Parse] knows it.
func Schema() []byte {
	whole := maps.Clone(policyForm.schema)
	whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	whole["title"] = "policy of wasmres"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(whole); err != nil {
		panic(err) // the table has nothing else than JSON
	}
	return b.Bytes()
}
