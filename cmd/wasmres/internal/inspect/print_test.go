package inspect

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal/terminaltest"
)

// TestSheetFits prints an inspection of a provider that says much about itself.
func TestSheetFits(t *testing.T) {
	long := strings.Repeat("much to say ", 30)
	yes := true
	i := &inspection{
		Name: "talker", Description: long, Digest: "sha256:" + strings.Repeat("0", 64), Operations: []string{"read", "list"},
		Capabilities: []capability{{Name: "fs", Reason: long, Granted: &yes}}, Requested: requestedLimits{Memory: 1 << 30},
		ConfigSchema: json.RawMessage(`{"properties": {"b": {"description": "second"}, "a": {}}, "required": ["a"]}`),
	}
	for range 40 {
		i.Static = append(i.Static, declared{"x:" + strings.Repeat("y", 100), long, "text/plain", 0})
		i.Templates = append(i.Templates, inspected{URITemplate: "x:{y}", Name: long})
	}
	var b bytes.Buffer
	i.printSections(&sectionWriter{Style: terminal.Style{Width: 80, ASCII: true}, w: &b})
	for line := range strings.Lines(b.String()) {
		if utf8.RuneCountInString(line) > 81 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line)-1, line)
		}
	}
	for _, want := range []string{
		"\ndigest  sha256:0", "\n               and 28 more, see --output-format json\n",
		"\nconfig schema  a  required\n               b  optional  second\n",
		"\nmemory         0 B; the provider asks for 1.0 GiB, grant it with --memory\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

func TestSectionEscapesText(t *testing.T) {
	var out bytes.Buffer
	newSectionWriter(&out).row("about", "%s", terminaltest.Hostile)
	terminaltest.CheckEscaped(t, out.String())
}
