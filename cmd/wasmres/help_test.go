package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
)

// TestOwnFlagsComeFirst looks at the help of every command: its own flags stand before those of all commands that open a
// provider.
func TestOwnFlagsComeFirst(t *testing.T) {
	for _, command := range newApp(nil, nil, nil).Commands {
		var out bytes.Buffer
		if status := Main(t.Context(), []string{"wasmres", command.Name, "--help"}, nil, &out, &out); status != cli.StatusOK {
			t.Fatalf("%s: status %d, %s", command.Name, status, &out)
		}
		shared := strings.Index(out.String(), "\n   What the provider may touch (nothing unless granted)\n")
		for _, c := range []string{"Output", "Looking", "Serving", "Measuring", "Checking", "Testing", "Building", "Completing"} {
			if own := strings.Index(out.String(), "\n   "+c+"\n"); own >= 0 && shared >= 0 && own > shared {
				t.Errorf("%s: %s stands behind the flags of all commands", command.Name, c)
			}
		}
	}
}
