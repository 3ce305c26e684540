package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestOwnFlagsComeFirst looks at the help of every command: its own flags stand before those of all commands that open a
// provider.
func TestOwnFlagsComeFirst(t *testing.T) {
	for _, command := range newApp(nil, nil, nil).Commands {
		var out bytes.Buffer
		if status := Main(t.Context(), []string{"wasmres", command.Name, "--help"}, nil, &out, &out); status != exitOK {
			t.Fatalf("%s: status %d, %s", command.Name, status, &out)
		}
		shared := strings.Index(out.String(), "\n   "+categoryGrants+"\n")
		for _, c := range []string{categoryOutput, "Looking", "Serving", "Measuring", "Checking", "Testing", "Building", "Completing"} {
			if own := strings.Index(out.String(), "\n   "+c+"\n"); own >= 0 && shared >= 0 && own > shared {
				t.Errorf("%s: %s stands behind the flags of all commands", command.Name, c)
			}
		}
	}
}

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
