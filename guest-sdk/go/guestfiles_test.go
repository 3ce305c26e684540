package wasmres

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is what the packages of this one begin with.
const module = "github.com/wasmres/wasmres/guest-sdk/go"

// A guestPackage is one that ends up in guests, checked as TinyGo sees it: with its build tags, and with numbers and
// pointers of 32 bits.
type guestPackage struct {
	dir      string // beside this file
	files    []*ast.File
	types    *types.Package
	info     *types.Info
	problems []error // of the checker
}

var guestFiles = token.NewFileSet()

// guestPackages gives them by path: the SDK and all it imports of this module.
var guestPackages = sync.OnceValues(func() (map[string]*guestPackage, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output() // a test built with -trimpath does not know it
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	before := build.Default
	defer func() { build.Default = before }()
	build.Default.GOOS, build.Default.GOARCH, build.Default.CgoEnabled = "linux", "386", false // whose numbers have 32 bits
	build.Default.GOROOT = strings.TrimSpace(string(root))
	build.Default.ToolTags = nil // those of this machine
	l := &loader{std: importer.ForCompiler(guestFiles, "source", nil), loaded: map[string]*guestPackage{}}
	_, err = l.Import(module)
	return l.loaded, err
})

// A loader is the importer of guests.
type loader struct {
	std    types.Importer
	loaded map[string]*guestPackage
}

// Import implements [types.Importer].
func (l *loader) Import(name string) (*types.Package, error) {
	if !strings.HasPrefix(name, module) {
		return l.std.Import(name)
	}
	if p, ok := l.loaded[name]; ok {
		return p.types, nil
	}
	p := &guestPackage{dir: path.Join(".", strings.TrimPrefix(name, module)), info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	checker := types.Config{
		Importer: l, GoVersion: "go1.24", Sizes: &types.StdSizes{WordSize: 4, MaxAlign: 8}, // of wasm32
		Error: func(err error) { p.problems = append(p.problems, err) },
	}
	p.types, _ = checker.Check(name, guestFiles, p.files, p.info)
	l.loaded[name] = p
	return p.types, nil
}

// parse reads the files that TinyGo would.
func (p *guestPackage) parse() error {
	tinygo := build.Context{
		GOOS: "wasip1", GOARCH: "wasm", Compiler: "gc", ReleaseTags: build.Default.ReleaseTags,
		BuildTags: []string{"tinygo", "tinygo.wasm", "purego", "gc.precise", "scheduler.asyncify"},
	}
	names, err := filepath.Glob(filepath.Join(p.dir, "*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		taken, err := tinygo.MatchFile(filepath.Dir(name), filepath.Base(name))
		if err != nil {
			return err
		}
		if !taken || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if filepath.Ext(name) != ".go" {
			return fmt.Errorf("%s: guests are made of Go alone", name)
		}
		file, err := parser.ParseFile(guestFiles, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p.files = append(p.files, file)
	}
	return nil
}

// inGuests calls visit for each node of what ends up in guests.
func inGuests(t *testing.T, visit func(p *guestPackage, n ast.Node)) {
	t.Helper()
	packages, err := guestPackages()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		for _, file := range packages[name].files {
			ast.Inspect(file, func(n ast.Node) bool {
				visit(packages[name], n)
				return true
			})
		}
	}
}

func at(n ast.Node) token.Position { return guestFiles.Position(n.Pos()) }
