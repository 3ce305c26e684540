package abitest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
)

func TestAssemblyScriptRedact(t *testing.T) {
	testRedact(t, assemblyScript(t, assemblyScriptKit, "redact.ts"))
}

func TestJavaScriptRedact(t *testing.T) {
	testRedact(t, javaScript(t, filepath.Join(javaScriptKit, "redact")))
}

// testRedact holds an SDK to the values that package redact of the SDK for Go is tested with.
func testRedact(t *testing.T, guest abitest.Guest) {
	text, err := os.ReadFile("../../testdata/redact.txt")
	if err != nil {
		t.Fatal(err)
	}
	secrets := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n"), "\t")
		name, value, shown, planted := columns[0], columns[1], columns[2], columns[3]
		o := ask(t, guest, abi.OpRead, abi.Request{
			URI: "redact://x/y", Route: 1, Vars: []abi.Var{{Name: "name", Value: name}, {Name: "value", Value: value}},
		})
		if len(o.Contents) != 1 {
			t.Fatalf("%s = %q: got %v", name, value, o.Code)
		}
		got := string(o.Contents[0].Body)
		if got != shown {
			t.Errorf("%s = %q: got %q, want %q", name, value, got, shown)
		}
		if planted != "" {
			secrets++
		}
		if planted != "" && strings.Contains(got, planted) {
			t.Errorf("%s = %q is shown with %q", name, value, planted)
		}
	}
	if secrets < 100 {
		t.Errorf("got %d secrets", secrets)
	}
}
