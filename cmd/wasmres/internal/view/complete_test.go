package view

import (
	"encoding/json"
	"testing"
)

// TestGivenValuesAreTheContext completes a variable that depends on another one.
func TestGivenValuesAreTheContext(t *testing.T) {
	args := []string{"db.wasm", "db://{table}/{column}", "column", "na"}
	for want, given := range map[string]map[string]string{
		`{"argument":{"name":"column","value":"na"},"ref":{"type":"ref/resource","uri":"db://{table}/{column}"}}`: nil,
		`{"argument":{"name":"column","value":"na"},"context":{"arguments":{"table":"users"}},` +
			`"ref":{"type":"ref/resource","uri":"db://{table}/{column}"}}`: {"table": "users"},
	} {
		if got, err := json.Marshal(completionParams(args, given)); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}
