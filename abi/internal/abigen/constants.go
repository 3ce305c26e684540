package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A group is one const declaration of package abi.
type group struct {
	doc       string // without comment marks; empty for none
	constants []constantOf
}

// A constantOf package abi, numeric or text.
type constantOf struct {
	name    string // as in Go, exported
	value   constant.Value
	doc     string // the sentence before it; empty for none
	comment string // the words beside it; empty for none
}

// constants reads the exported constants of package abi in the order they are declared, file by file. Those that name
// value types of WebAssembly are the host's business and left out.
func constants(dir string) ([]group, error) {
	fset := token.NewFileSet()
	files, err := parse(fset, dir)
	if err != nil {
		return nil, err
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	// No constant depends on an import, so imports stay unresolved and errors that follow from it are of no interest:
	// a constant without a value is found below.
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	_, _ = config.Check("abi", fset, files, info)
	var groups []group
	for _, file := range files {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				continue
			}
			g, err := groupOf(d, info)
			if err != nil {
				return nil, err
			}
			if len(g.constants) > 0 {
				groups = append(groups, g)
			}
		}
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("%s has no constants", dir)
	}
	return groups, nil
}

func parse(fset *token.FileSet, dir string) ([]*ast.File, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func groupOf(d *ast.GenDecl, info *types.Info) (group, error) {
	g := group{doc: text(d.Doc)}
	for _, spec := range d.Specs {
		s := spec.(*ast.ValueSpec)
		for _, ident := range s.Names {
			c, ok := info.Defs[ident].(*types.Const)
			if !ok || !c.Exported() || isNamed(c.Type(), "ValueType") {
				continue
			}
			if k := c.Val().Kind(); k != constant.Int && k != constant.String {
				return group{}, fmt.Errorf("%s is neither a number nor a text", ident.Name)
			}
			g.constants = append(g.constants, constantOf{
				name: ident.Name, value: c.Val(), doc: text(s.Doc), comment: text(s.Comment),
			})
		}
	}
	return g, nil
}

var link = regexp.MustCompile(`\[(\w+)\]`)

// text is a comment on one line, links of Go documentation undone.
func text(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	return link.ReplaceAllString(strings.Join(strings.Fields(c.Text()), " "), "$1")
}

func isNamed(t types.Type, name string) bool {
	n, ok := t.(*types.Named)
	return ok && n.Obj().Name() == name
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }
