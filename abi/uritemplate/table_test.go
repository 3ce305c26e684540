package uritemplate_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi/uritemplate"
)

// TestTable holds the package to the table that the native tests of the guest SDKs are held to as well.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../testdata/uritemplate/match.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "# ") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		got := strings.Join(append(fields[:2:2], answer(t, strings.Fields(fields[0]), fields[1])...), "\t")
		if want := strings.Join(fields, "\t"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// answer returns the number of the template that answers for a URI, and its variables.
func answer(t *testing.T, sources []string, uri string) []string {
	t.Helper()
	var templates []*uritemplate.Template
	for _, source := range sources {
		templates = append(templates, mustParse(t, source))
	}
	slices.SortFunc(templates, uritemplate.Compare)
	for _, template := range templates {
		values, ok := template.Match(uri)
		if !ok {
			continue
		}
		fields := []string{strconv.Itoa(slices.Index(sources, template.String()) + 1)}
		for _, v := range values {
			fields = append(fields, v.Name+"="+v.Value)
		}
		return fields
	}
	return []string{"0"}
}
