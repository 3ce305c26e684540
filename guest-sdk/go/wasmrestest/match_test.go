package wasmrestest

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMatch asks what the test of the host's own matching asks. A published SDK does not have the table.
func TestMatch(t *testing.T) {
	if _, err := os.Stat("../../../abi/uritemplate"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("this is a published SDK")
	}
	text, err := os.ReadFile("../../../testdata/uritemplate/match.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "# ") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var templates []Entry
		for template := range strings.FieldsSeq(fields[0]) {
			templates = append(templates, Entry{URI: template})
		}
		number, vars, err := match(templates, fields[1])
		got := append(fields[:2:2], strconv.Itoa(number))
		for _, v := range vars {
			got = append(got, v.Name+"="+v.Value)
		}
		if err != nil || !slices.Equal(got, fields) {
			t.Errorf("got %q, %v; want %q", got, err, fields)
		}
	}
}

func TestMatchSaysWhichTemplateIsMalformed(t *testing.T) {
	_, _, err := match([]Entry{{URI: "a://{x"}}, "a://1")
	if err == nil || !strings.Contains(err.Error(), `"a://{x": uri template: byte 4`) {
		t.Errorf("got %v", err)
	}
}

// constants reads the numbers a Go file declares.
func constants(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]string)
	for _, d := range parsed.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			for i, name := range v.Names {
				switch x := v.Values[i].(type) {
				case *ast.BasicLit:
					values[name.Name] = x.Value
				case *ast.UnaryExpr:
					values[name.Name] = x.Op.String() + x.X.(*ast.BasicLit).Value
				}
			}
		}
	}
	return values
}

func TestNumbersAreThoseOfTheABI(t *testing.T) {
	mine, abi := constants(t, "abi.go"), constants(t, "../abi_gen.go")
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		if mine[name] != abi[name] {
			t.Errorf("%s: got %s, want %s", name, mine[name], abi[name])
		}
	}
}
