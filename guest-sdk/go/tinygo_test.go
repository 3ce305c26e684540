package wasmres

import (
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// These tests hold what ends up in guests to what TinyGo 0.39 has for -target=wasip1 -buildmode=c-shared, as its own
// documentation and compiler say. There is no TinyGo among the tools of this repository: nothing here compiles with it.

// TestGuestsFit32Bits checks all types with an int and a uintptr of 32 bits, which TinyGo has and Go has not.
func TestGuestsFit32Bits(t *testing.T) {
	packages, err := guestPackages()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{module, module + "/internal/host", module + "/internal/wire"} {
		p, ok := packages[path]
		if !ok || len(p.files) == 0 {
			t.Errorf("%s was not looked at", path)
			continue
		}
		for _, problem := range p.problems {
			t.Error(problem)
		}
	}
}

// bounded are conversions to numbers of 32 bits of what may have more, with what bounds it.
var bounded = map[string]string{
	"internal/wire/wire.go: int(size)":                                    "size was compared with the length of what is decoded",
	"fs.go: int(host.Take(channelBody, p, 0))":                            "it is at most the length of p",
	"value.go: int(n)":                                                    "it is compared with what it was",
	"error.go: int(c)":                                                    "a Code of the ABI has two digits",
	"folder.go: int(min(readMax, room - int64(have) + 1))":                "readMax has fewer bits",
	"folder.go: int(host.Take(channelBody, f.data[have:have + want], 0))": "it is at most the length of the rest of f.data",
	"serve.go: int(min(r.limit, math.MaxInt32))":                          "an int of 32 bits holds as much",
}

// TestGuestsNarrowNothing finds the conversions that lose something only where an int has 32 bits.
func TestGuestsNarrowNothing(t *testing.T) {
	used := map[string]bool{}
	inGuests(t, func(p *guestPackage, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !p.info.Types[call.Fun].IsType() || p.info.Types[call].Value != nil {
			return
		}
		to, from := basic(p.info.TypeOf(call)), basic(p.info.TypeOf(call.Args[0]))
		if !narrows(from, to) {
			return
		}
		where := at(n)
		what := filepath.ToSlash(where.Filename) + ": " + types.ExprString(call)
		if used[what] = true; bounded[what] == "" {
			t.Errorf("%v: %s of %s: it has 32 bits with TinyGo: bound it, and say so in bounded", where, types.ExprString(call), from)
		}
	})
	for what := range bounded {
		if !used[what] {
			t.Errorf("bounded has %q, which is not there", what)
		}
	}
}

func basic(t types.Type) *types.Basic {
	if t == nil {
		return nil
	}
	b, _ := t.Underlying().(*types.Basic)
	return b
}

// narrows reports whether a conversion between two types loses something with an int of 32 bits, and nothing with one
// of 64.
func narrows(from, to *types.Basic) bool {
	if from == nil || to == nil {
		return false
	}
	switch to.Kind() {
	case types.Int:
		return slices.Contains([]types.BasicKind{types.Int64, types.Uint64, types.Uint32, types.Uint, types.Float64}, from.Kind())
	case types.Uint, types.Uintptr:
		return slices.Contains([]types.BasicKind{types.Int64, types.Uint64, types.Float64}, from.Kind())
	}
	return false
}

// imports and exports of guests, with their types: i for 32 bits, pointers among them, and I for 64.
var directives = map[string]string{
	"//go:wasmimport wasmres_v1 take": "iiii:i", "//go:wasmimport wasmres_v1 emit": "ii:i", "//go:wasmimport wasmres_v1 body": "ii:i",
	"//go:wasmimport wasmres_v1 call": "iii:I", "//go:wasmimport wasmres_v1 log": "iii:", "//go:wasmimport wasmres_v1 info": "i:I",
	"//go:wasmexport wasmres_v1": "ii:i", "//go:wasmexport wasmres_v1_warm": ":",
}

// TestGuestsImportAndExportWhatTinyGoCan holds the functions of the ABI to types that mean the same to Go and to TinyGo,
// and to the types of the ABI. Pointers to structs do not: what is in them has other places with pointers of 32 bits.
func TestGuestsImportAndExportWhatTinyGoCan(t *testing.T) {
	left := maps.Clone(directives)
	inGuests(t, func(p *guestPackage, n ast.Node) {
		f, ok := n.(*ast.FuncDecl)
		if !ok || f.Doc == nil {
			return
		}
		for _, c := range f.Doc.List {
			if !strings.HasPrefix(c.Text, "//go:wasm") {
				continue
			}
			if want, ok := left[c.Text]; !ok || wasmType(p, f) != want {
				t.Errorf("%v: %s is %s, want %q", at(f), c.Text, wasmType(p, f), want)
			}
			if imported := strings.HasPrefix(c.Text, "//go:wasmimport "); imported != (f.Body == nil) {
				t.Errorf("%v: %s: imports have no body, exports have one", at(f), c.Text)
			}
			delete(left, c.Text)
		}
	})
	for directive := range left {
		t.Errorf("there is no %s", directive)
	}
}

// wasmType writes the type of a function as directives has it, with ? for what does not mean the same to both.
func wasmType(p *guestPackage, f *ast.FuncDecl) string {
	signature := p.info.Defs[f.Name].Type().(*types.Signature)
	var b strings.Builder
	for v := range signature.Params().Variables() {
		b.WriteByte(wasmLetter(v.Type()))
	}
	b.WriteByte(':')
	for v := range signature.Results().Variables() {
		b.WriteByte(wasmLetter(v.Type()))
	}
	return b.String()
}

func wasmLetter(t types.Type) byte {
	b := basic(t)
	switch {
	case b == nil:
		return '?'
	case b.Kind() == types.Int32, b.Kind() == types.Uint32, b.Kind() == types.UnsafePointer:
		return 'i'
	case b.Kind() == types.Int64, b.Kind() == types.Uint64:
		return 'I'
	}
	return '?'
}

// TestGuestsDoWithoutWhatTinyGoHasNot looks for what TinyGo has not, has only in part, or has of another shape.
func TestGuestsDoWithoutWhatTinyGoHasNot(t *testing.T) {
	directives := []string{"go:build", "go:wasmimport", "go:wasmexport", "go:noescape", "go:noinline"}
	unsafe := []string{"Pointer", "Slice", "SliceData", "String", "StringData"}
	const mostOnStack = 4 << 10 // of the 64 KiB that a goroutine of TinyGo has, for good
	sizes := &types.StdSizes{WordSize: 4, MaxAlign: 8}
	inGuests(t, func(p *guestPackage, n ast.Node) {
		switch n := n.(type) {
		case *ast.Comment:
			name, isDirective := strings.CutPrefix(n.Text, "//go:")
			name, _, _ = strings.Cut(name, " ")
			if isDirective && !slices.Contains(directives, "go:"+name) || strings.HasPrefix(n.Text, "//export ") {
				t.Errorf("%v: %s: it means nothing, or something else, to TinyGo", at(n), n.Text)
			}
		case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt:
			t.Errorf("%v: an export must not wait for another goroutine", at(n))
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && p.info.Uses[id] == types.Universe.Lookup("recover") {
				t.Errorf("%v: recover gives nil, whatever has happened", at(n))
			}
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && id.Name == "unsafe" && !slices.Contains(unsafe, n.Sel.Name) {
				t.Errorf("%v: unsafe.%s: what it gives depends on the size of a pointer", at(n), n.Sel.Name)
			}
		case *ast.Ident:
			v, ok := p.info.Defs[n].(*types.Var)
			if !ok || v.IsField() || v.Parent() == nil || v.Parent() == p.types.Scope() || hasParameters(v.Type()) {
				return
			}
			if size := sizes.Sizeof(v.Type()); size > mostOnStack {
				t.Errorf("%v: %s has %d bytes, at most %d fit the stack: make it a variable of the package", at(n), n.Name, size, mostOnStack)
			}
		}
	})
}

// hasParameters reports whether the size of a type depends on a type parameter.
func hasParameters(t types.Type) bool {
	_, is := t.(*types.TypeParam)
	return is
}

// TestGuestsStaySmall holds what ends up in guests to packages that are small and that TinyGo has.
func TestGuestsStaySmall(t *testing.T) {
	allowed := []string{"errors", "io", "io/fs", "math", "runtime", "strconv", "strings", "time", "unicode/utf8", "unsafe"}
	inGuests(t, func(_ *guestPackage, n ast.Node) {
		i, ok := n.(*ast.ImportSpec)
		if !ok {
			return
		}
		if name, err := strconv.Unquote(i.Path.Value); err != nil || !strings.HasPrefix(name, module+"/internal/") && !slices.Contains(allowed, name) {
			t.Errorf("%v: it imports %s", at(n), name)
		}
	})
}
