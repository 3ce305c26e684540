//go:build wasmtime && cgo && linux && amd64

package wasmtime

// #include <stdlib.h>
// #include "sandbox.h"
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/wasm"
)

type module struct {
	engine *Engine
	code   *C.wasmtime_module_t
	pre    *C.wasmtime_instance_pre_t
	funcs  []engine.HostFunc // in the order of their indices
}

type importName struct{ module, name string }

// link checks all imported functions against host, and links those. After an error the caller releases the code.
func (e *Engine) link(code *C.wasmtime_module_t, host []engine.HostFunc) (*module, error) {
	known := make(map[importName]engine.HostFunc, len(host))
	for _, f := range host {
		known[importName{f.Module, f.Name}] = f
	}
	linker := C.wasmtime_linker_new(e.ptr)
	defer C.wasmtime_linker_delete(linker)
	m := &module{engine: e, code: code}
	var imports C.wasm_importtype_vec_t
	C.wasmtime_module_imports(code, &imports)
	defer C.wasm_importtype_vec_delete(&imports)
	defined := map[importName]bool{}
	for _, one := range unsafe.Slice(imports.data, int(imports.size)) {
		wanted := importName{text(C.wasm_importtype_module(one)), text(C.wasm_importtype_name(one))}
		f, err := match(known, wanted, C.wasm_externtype_as_functype_const(C.wasm_importtype_type(one)))
		if err != nil {
			return nil, err
		}
		if defined[wanted] {
			continue
		}
		defined[wanted] = true
		if err := define(linker, f, len(m.funcs)); err != nil {
			return nil, fmt.Errorf("link %s: %w", f.Module, err)
		}
		m.funcs = append(m.funcs, f)
	}
	if err := take(C.wasmtime_linker_instantiate_pre(linker, code, &m.pre)); err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	return m, nil
}

func text(name *C.wasm_name_t) string { return C.GoStringN(name.data, C.int(name.size)) }

// match returns the host function that an import names.
func match(known map[importName]engine.HostFunc, wanted importName, functype *C.wasm_functype_t) (engine.HostFunc, error) {
	f, ok := known[wanted]
	if !ok || functype == nil {
		return f, abi.Errorf(abi.CodeIncompatible, "the module imports %.64q.%.64q, which no host function has", wanted.module, wanted.name)
	}
	got := abi.Signature{Params: types(C.wasm_functype_params(functype)), Results: types(C.wasm_functype_results(functype))}
	if !got.Equal(f.Type) {
		return f, abi.Errorf(abi.CodeIncompatible, "the module imports %s.%s as %s, expected %s", wanted.module, wanted.name, got, f.Type)
	}
	return f, nil
}

// kinds are the kinds of values that cross the border, in the order of the C API.
var kinds = []abi.ValueType{abi.I32, abi.I64, abi.ValueType(wasm.F32), abi.ValueType(wasm.F64)}

func types(list *C.wasm_valtype_vec_t) (out []abi.ValueType) {
	for _, t := range unsafe.Slice(list.data, int(list.size)) {
		kind := int(C.wasm_valtype_kind(t))
		if kind >= len(kinds) {
			return append(out, abi.ValueType(wasm.ExternRef))
		}
		out = append(out, kinds[kind])
	}
	return out
}

// define gives the linker a host function, which has an index.
func define(linker *C.wasmtime_linker_t, f engine.HostFunc, index int) error {
	if max(len(f.Type.Params), len(f.Type.Results)) > C.MAX_VALUES {
		return fmt.Errorf("%s.%s has too many parameters", f.Module, f.Name)
	}
	var params, results C.wasm_valtype_vec_t
	fill(&params, f.Type.Params)
	fill(&results, f.Type.Results)
	functype := C.wasm_functype_new(&params, &results)
	defer C.wasm_functype_delete(functype)
	mod, name := C.CString(f.Module), C.CString(f.Name)
	defer C.free(unsafe.Pointer(mod))
	defer C.free(unsafe.Pointer(name))
	return take(C.define_function(linker, mod, C.size_t(len(f.Module)), name, C.size_t(len(f.Name)), functype, C.size_t(index)))
}

func fill(list *C.wasm_valtype_vec_t, of []abi.ValueType) {
	C.wasm_valtype_vec_new_uninitialized(list, C.size_t(len(of)))
	for i, t := range of {
		unsafe.Slice(list.data, len(of))[i] = C.wasm_valtype_new(C.uint8_t(max(0, slices.Index(kinds, t))))
	}
}

// The address space of a memory with guards, in bytes: as far as an index of 32 bits reaches, and as far as an offset does beyond.
const (
	indexSpan  = C.INDEX_SPAN_PAGES * C.WASM_PAGE
	offsetSpan = C.OFFSET_SPAN_PAGES * C.WASM_PAGE
)

// Reservation is how much address space each memory with guards reserves, in bytes.
const Reservation = indexSpan + offsetSpan

var _ engine.Reserver = (*module)(nil)

// Reservation implements [engine.Reserver].
func (m *module) Reservation() uint64 {
	if !m.engine.guards {
		return 0
	}
	return Reservation
}

// checkMemory returns an error for a memory that the code of the module could leave.
func (m *module) checkMemory(memory engine.LinearMemory) error {
	var got uint64
	if r, ok := memory.(engine.Reserved); ok {
		got = r.Reserved()
	}
	if want := m.Reservation(); got < want {
		return fmt.Errorf("the memory has reserved %d bytes of address space, and the code was compiled for %d", got, want)
	}
	return nil
}

// Instantiate implements [engine.Module].
func (m *module) Instantiate(_ context.Context, host any, memory engine.LinearMemory) (engine.Instance, error) {
	if err := m.checkMemory(memory); err != nil {
		return nil, fmt.Errorf("instantiate: %w", err)
	}
	i := &instance{module: m, host: host, memory: memory, exports: map[string]export{}}
	i.box = (*C.sandbox)(C.calloc(1, C.size_t(unsafe.Sizeof(C.sandbox{}))))
	i.pins = new(runtime.Pinner)
	i.pins.Pin(i)
	i.box.host = unsafe.Pointer(i)
	if m.engine.guards {
		i.box.span, i.box.reach = indexSpan, Reservation
	}
	o := C.new_sandbox(i.box, m.engine.ptr, m.pre)
	if err := i.failed(o); err != nil {
		i.release()
		return nil, fmt.Errorf("instantiate: %w", err)
	}
	return i, nil
}

// Close implements [engine.Module].
func (m *module) Close() error {
	if m.pre != nil {
		C.wasmtime_instance_pre_delete(m.pre)
		C.wasmtime_module_delete(m.code)
		m.pre, m.code = nil, nil
	}
	return nil
}
