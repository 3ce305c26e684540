package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRetiredWordsStayAway holds names, comments, messages and documentation to one term for one thing. A word is
// retired when a standard term has replaced it; CONTRIBUTING.md says how to choose one.
func TestRetiredWordsStayAway(t *testing.T) {
	for _, file := range goFiles(t) {
		rel := relative(t, file)
		if rel == "internal/archtest/retired_test.go" || rel == "internal/archtest/words_test.go" {
			continue // these list them
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range declared(parsed) {
			if slices.Contains(retiredNames[path.Dir(rel)], id.Name) {
				t.Errorf("%s:%d: %s is a retired name of this package", rel, fset.Position(id.Pos()).Line, id.Name)
			}
		}
		for _, p := range goProse(fset, parsed) {
			reportRetired(t, rel, p.text, p.line)
		}
	}
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		reportRetired(t, relative(t, file), string(text), 1)
	}
}

// reportRetired reports each retired phrase of a text that begins on the given line of a file.
func reportRetired(t *testing.T, file, text string, line int) {
	t.Helper()
	text = withoutStandard(text)
	for _, at := range retiredPhrase.FindAllStringIndex(text, -1) {
		found := strings.ToLower(strings.Join(strings.Fields(text[at[0]:at[1]]), " "))
		if isAllowed(file, found) {
			continue
		}
		t.Errorf("%s:%d: %q is retired: say it with a standard term", file, line+strings.Count(text[:at[0]], "\n"), found)
	}
}

// declared returns the names a file declares: functions, methods, types, fields, and the variables and constants of the
// package. Parameters and local variables are left out.
func declared(file *ast.File) []*ast.Ident {
	var names []*ast.Ident
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					names = append(names, v.Names...)
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.StructType:
			names = append(names, fieldNames(n.Fields)...)
		case *ast.InterfaceType:
			names = append(names, fieldNames(n.Methods)...)
		}
		return true
	})
	return names
}

func fieldNames(fields *ast.FieldList) []*ast.Ident {
	var names []*ast.Ident
	for _, f := range fields.List {
		names = append(names, f.Names...)
	}
	return names
}

// prose is a text and the line it begins on.
type prose struct {
	text string
	line int
}

// goProse returns what a Go file says to people: its comments, its string literals, and the words of the names it
// declares.
func goProse(fset *token.FileSet, file *ast.File) []prose {
	var texts []prose
	add := func(text string, pos token.Pos) {
		texts = append(texts, prose{text, fset.Position(pos).Line})
	}
	for _, group := range file.Comments {
		lines := make([]string, len(group.List))
		for i, c := range group.List {
			lines[i] = strings.TrimPrefix(c.Text, "//")
		}
		add(strings.Join(lines, "\n"), group.Pos())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			add(strings.ReplaceAll(lit.Value, `\n`, "  "), lit.Pos())
		}
		return true
	})
	for _, id := range declared(file) {
		add(camel.ReplaceAllString(id.Name, "$1 $2"), id.Pos())
	}
	return texts
}

var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// pages returns the documentation of the repository. The change log keeps the words of its time.
func pages(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case strings.HasSuffix(file, ".md") && d.Name() != "CHANGELOG.md":
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func relative(t *testing.T, file string) string {
	t.Helper()
	rel, err := filepath.Rel(root, file)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

func isAllowed(file, phrase string) bool {
	return slices.Contains(allowed[file], phrase) || slices.Contains(allowed[path.Dir(file)], phrase)
}

// TestRetiredPhrasesAreFound shows that the test above sees phrases across lines, in names, and in the plural.
func TestRetiredPhrasesAreFound(t *testing.T) {
	const source = "package p\n\n// A call is put\n// back by a crew.\nfunc hollowBytes() string { return \"for Whoever asks\" }\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, p := range goProse(fset, file) {
		found = append(found, retiredPhrase.FindAllString(p.text, -1)...)
	}
	if want := []string{"put\n back", "crew", "Whoever", "hollow"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}
