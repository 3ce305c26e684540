package wasmrestest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		templates []string
		uri       string
		number    int
		vars      string
	}{
		{[]string{"a://{x}"}, "a://1", 1, "[{x 1}]"},
		{[]string{"a://{x}"}, "a://1/2", 0, "[]"},
		{[]string{"a://{x}"}, "a://", 0, "[]"},
		{[]string{"a://{x}"}, "a://%2F%20%C3%BC", 1, "[{x / ü}]"},
		{[]string{"a://{x}"}, "a://%zz", 0, "[]"},
		{[]string{"a.b://{x}"}, "a+b://1", 0, "[]"},
		{[]string{"a://{+path}"}, "a://1/2?3#4", 1, "[{path 1/2?3#4}]"},
		{[]string{"a://{x}/{y}"}, "a://1/2", 1, "[{x 1} {y 2}]"},
		{[]string{"a://{x,y}"}, "a://1,2", 1, "[{x 1} {y 2}]"},
		{[]string{"a://b{/x,y}"}, "a://b/1/2", 1, "[{x 1} {y 2}]"},
		{[]string{"a://b{/x,y}"}, "a://b/1", 1, "[{x 1}]"},
		{[]string{"a://b{/path*}"}, "a://b/1/2/3", 1, "[{path 1} {path 2} {path 3}]"},
		{[]string{"a://b{/path*}"}, "a://b", 1, "[]"},
		{[]string{"a://b{.ext}"}, "a://b.md", 1, "[{ext md}]"},
		{[]string{"a://b{#part}"}, "a://b#p/q", 1, "[{part p/q}]"},
		{[]string{"a://b{;x,y}"}, "a://b;x=1;y", 1, "[{x 1} {y }]"},
		{[]string{"a://b{?x,y}"}, "a://b?x=1&y=2", 1, "[{x 1} {y 2}]"},
		{[]string{"a://b{?x,y}"}, "a://b", 1, "[]"},
		{[]string{"a://b?k=1{&x}"}, "a://b?k=1&x=2", 1, "[{x 2}]"},
		{[]string{"a://b{?tag*}"}, "a://b?tag=1&tag=2", 1, "[{tag 1} {tag 2}]"},
		{[]string{"a://{x}", "a://b/{x}", "a://{x}/{y}"}, "a://b/1", 2, "[{x 1}]"},
		{[]string{"a://{+x}", "a://{+x}/{y}", "a://{y}"}, "a://1", 3, "[{y 1}]"},
	} {
		var templates []Entry
		for _, text := range c.templates {
			templates = append(templates, Entry{URI: text})
		}
		number, vars := match(templates, c.uri)
		if number != c.number || fmt.Sprint(vars) != c.vars {
			t.Errorf("%v with %s: got %d %v, want %d %s", c.templates, c.uri, number, vars, c.number, c.vars)
		}
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
