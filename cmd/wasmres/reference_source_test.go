package main

import (
	"cmp"
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// A constant is one whose name begins with code, as the source has it.
type constant struct{ value, comment string }

// constants returns the constants of a file that are error codes, by their names.
func constants(file *ast.File) map[string]constant {
	found := map[string]constant{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(strings.ToLower(spec.Names[0].Name), "code") {
			return true
		}
		value := ""
		switch v := spec.Values[0].(type) {
		case *ast.BasicLit:
			value = v.Value
		case *ast.UnaryExpr:
			value = v.Op.String() + v.X.(*ast.BasicLit).Value
		default:
			return true
		}
		found[spec.Names[0].Name] = constant{value, strings.TrimSpace(spec.Comment.Text())}
		return true
	})
	return found
}

func sortedByValue(constants map[string]constant) []string {
	names := make([]string, 0, len(constants))
	for name := range constants {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Compare(number(constants[x].value), number(constants[y].value))
	})
	return names
}

// number returns the value of a constant; 0 if it is none.
func number(value string) int {
	n, _ := strconv.Atoi(value)
	return n
}

func codeName(value string) string { return abi.Code(number(value)).String() }
