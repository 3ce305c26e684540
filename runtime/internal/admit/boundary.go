package admit

import (
	"strings"
	"unicode"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Reserved begins the names of exports that the host adds to a module.
const Reserved = "wasmres:"

// Kinds of imports and exports.
const (
	kindFunction = iota
	kindTable
	kindMemory
	kindGlobal
)

func (c *checker) importing() {
	module, name := c.name(), c.name()
	kind := c.r.Byte()
	if !c.ok() {
		return
	}
	if c.boundary && kind != kindFunction {
		c.refuseImport(kind)
		return
	}
	switch kind {
	case kindFunction:
		t := c.typeIndex()
		if c.ok() && c.boundary {
			c.offered(module, name, c.types[t])
		}
		c.functions = append(c.functions, t)
	case kindTable:
		c.defineTable()
		c.checkLimit(boundTables, uint64(len(c.tables)))
	case kindMemory:
		c.defineMemory()
	case kindGlobal:
		c.globals = append(c.globals, c.globalType())
		c.checkLimit(boundGlobals, uint64(len(c.globals)))
	default:
		c.invalid("unknown kind of import %#x", kind)
	}
}

func (c *checker) refuseImport(kind byte) {
	switch kind {
	case kindMemory:
		c.refuse("the module imports a memory; it must define and export its own")
	case kindTable:
		c.refuse("the module imports a table; it may import functions only")
	case kindGlobal:
		c.refuse("the module imports a global; it may import functions only")
	default:
		c.invalid("unknown kind of import %#x", kind)
	}
}

// offered checks an imported function against the host functions.
func (c *checker) offered(module, name []byte, t funcType) {
	for _, f := range c.imports {
		if f.Module != string(module) || f.Name != string(name) {
			continue
		}
		if got := signature(t); !got.Equal(f.Type) || hasReference(t) {
			c.refuse("the module imports %s.%s as %s, expected %s", f.Module, f.Name, got, f.Type)
		}
		return
	}
	c.refuse("the module imports %.64q.%.64q, which no host function has", module, name)
}

func (c *checker) export() {
	name, kind, index := string(c.name()), c.r.Byte(), c.r.U32()
	if !c.ok() {
		return
	}
	spaces := [...]int{
		kindFunction: len(c.functions), kindTable: len(c.tables), kindMemory: int(c.memories), kindGlobal: len(c.globals),
	}
	if int(kind) >= len(spaces) || int64(index) >= int64(spaces[kind]) {
		c.invalid("export of unknown kind %#x, index %d", kind, index)
		return
	}
	if _, twice := c.exports[name]; twice {
		c.invalid("a second export %.64q", name)
		return
	}
	c.exports[name] = struct{}{}
	if c.boundary {
		c.exportable(name, kind, index)
	}
	switch kind {
	case kindFunction:
		c.declare(index)
		c.report.Exports[name] = signature(c.typeOf(index))
	case kindMemory:
		c.report.Memory = c.report.Memory || name == abi.ExportMemory
	}
}

// exportable refuses exports that must not leave the module.
func (c *checker) exportable(name string, kind byte, index uint32) {
	switch {
	case strings.HasPrefix(name, Reserved):
		c.refuse("the module exports %.64q: names that begin with %q are the host's", name, Reserved)
	case kind == kindTable:
		c.refuse("the module exports the table %.64q; references do not cross the boundary", name)
	case kind == kindGlobal && wasm.IsRefType(c.globals[index].typ):
		c.refuse("the module exports the global %.64q as %s; references do not cross the boundary", name,
			abi.ValueType(c.globals[index].typ))
	case kind == kindFunction && int(index) < c.importedFunctions:
		c.refuse("the module exports %.64q, which it imports; its exports must be its own", name)
	case kind == kindFunction && hasReference(c.typeOf(index)):
		c.refuse("the module exports %.64q as %s; references do not cross the boundary", name, signature(c.typeOf(index)))
	}
}

// name reads the name of an import or export.
func (c *checker) name() []byte {
	name := c.r.Name()
	fits := c.ok() && c.checkLimit(boundName, uint64(len(name)))
	if fits && c.boundary && strings.ContainsFunc(string(name), unicode.IsControl) {
		c.refuse("the name %.64q has control characters", name)
	}
	return name
}

func hasReference(t funcType) bool {
	for _, list := range [...][]wasm.ValueType{t.params, t.results} {
		for _, v := range list {
			if wasm.IsRefType(v) {
				return true
			}
		}
	}
	return false
}

// signature returns a copy of a type.
func signature(t funcType) abi.Signature {
	return abi.Signature{Params: copied(t.params), Results: copied(t.results)}
}

func copied(types []wasm.ValueType) []abi.ValueType {
	if len(types) == 0 {
		return nil
	}
	out := make([]abi.ValueType, len(types))
	for i, t := range types {
		out[i] = abi.ValueType(t)
	}
	return out
}
