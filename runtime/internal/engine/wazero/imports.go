package wazero

import (
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// An imported function is one that a module imports.
type imported struct {
	importName
	signature abi.Signature
}

// importsOf returns the functions that a module imports, which wazero has compiled. wazero would say that, too, but makes a
// definition of each function of the module for it: 290 KiB for a provider in Go, for as long as it lives.
func importsOf(module []byte) (all []imported, err error) {
	var types []abi.Signature
	for s, err := range wasm.Sections(module) {
		if err != nil {
			return nil, err
		}
		r := s.Reader()
		switch s.ID {
		case wasm.SectionType:
			types = readTypes(r)
		case wasm.SectionImport:
			all = readImports(r, types)
		case wasm.SectionFunction, wasm.SectionCode: // imports come before
			return all, nil
		}
		if err := r.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readTypes reads the types of functions. After an error of the reader some are missing.
func readTypes(r *wasm.Reader) (types []abi.Signature) {
	for n := r.U32(); n > 0 && r.Err() == nil; n-- {
		r.Byte() // there is one form
		types = append(types, abi.Signature{Params: readValueTypes(r), Results: readValueTypes(r)})
	}
	return types
}

func readValueTypes(r *wasm.Reader) []abi.ValueType {
	b := r.Bytes(r.U32())
	types := make([]abi.ValueType, len(b))
	for i, t := range b {
		types[i] = abi.ValueType(t)
	}
	return types
}

// readImports reads imports up to the first that is no function. What provides no such thing then fails when it is instantiated.
func readImports(r *wasm.Reader, types []abi.Signature) (all []imported) {
	const function = 0
	for n := r.U32(); n > 0 && r.Err() == nil; n-- {
		name := importName{string(r.Name()), string(r.Name())}
		if r.Byte() != function {
			break
		}
		if t := r.U32(); r.Err() == nil && uint64(t) < uint64(len(types)) {
			all = append(all, imported{name, types[t]})
		}
	}
	return slices.Clip(all)
}
