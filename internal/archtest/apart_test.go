package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	apart   = regexp.MustCompile(`(?m)^APART += ((?:.*\\\n)*.*)$`)
	topTest = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// The race detector leaves out the tests of APART in the Makefile by their names: each is that of one test.
func TestTestsThatRunApartExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := apart.FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no APART")
	}
	found := map[string]int{}
	for _, file := range goFiles(t) {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range topTest.FindAllSubmatch(text, -1) {
			found[string(name[1])]++
		}
	}
	for _, name := range strings.Fields(strings.ReplaceAll(string(list[1]), "\\\n", " ")) {
		if found[name] != 1 {
			t.Errorf("%s of APART: %d tests have this name, want 1", name, found[name])
		}
	}
}
