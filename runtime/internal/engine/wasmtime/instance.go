//go:build wasmtime && cgo && linux && amd64

package wasmtime

// #include <stdbool.h>
// #include <stdlib.h>
// #include "sandbox.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/wasmres/wasmres/runtime/internal/engine"
)

type instance struct {
	module *module
	host   any
	memory engine.LinearMemory
	bytes  []byte // of the memory, as the guest sees it
	box    *C.sandbox
	pins   *runtime.Pinner // holds the instance where C finds it
	closed bool

	ctx     context.Context   // of the running call
	stopped error             // why a host function has ended the call
	exports map[string]export // found so far
}

// An export is a function of a guest.
type export struct {
	function C.wasmtime_func_t
	values   int // the most of its parameters and results
}

// Call implements [engine.Instance].
func (i *instance) Call(ctx context.Context, name string, stack []uint64) error {
	f, err := i.function(name)
	if err != nil {
		return err
	}
	if f.values > len(stack) {
		return fmt.Errorf("export %q takes %d values, not %d", name, f.values, len(stack))
	}
	i.ctx, i.stopped = ctx, nil
	o := C.call_function(i.box, f.function, (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(stack))), C.size_t(f.values))
	i.ctx = nil
	return i.failed(o)
}

func (i *instance) function(name string) (export, error) {
	if f, ok := i.exports[name]; ok {
		return f, nil
	}
	found, ok := i.find(name)
	if !ok || found.kind != C.EXTERN_FUNC {
		return export{}, fmt.Errorf("no export %q", name)
	}
	f := export{function: *(*C.wasmtime_func_t)(unsafe.Pointer(&found.of))}
	kind := C.wasmtime_extern_type(i.box.context, &found)
	defer C.wasm_externtype_delete(kind)
	functype := C.wasm_externtype_as_functype_const(kind)
	f.values = max(int(C.wasm_functype_params(functype).size), int(C.wasm_functype_results(functype).size))
	if f.values > C.MAX_VALUES {
		return export{}, fmt.Errorf("export %q has too many parameters", name)
	}
	i.exports[name] = f
	return f, nil
}

// find returns an export of the guest.
func (i *instance) find(name string) (found C.wasmtime_extern_t, ok bool) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	ok = bool(C.wasmtime_instance_export_get(i.box.context, &i.box.instance, text, C.size_t(len(name)), &found))
	return found, ok
}

var _ engine.ThreadKeeper = (*instance)(nil)

// KeepsThread implements [engine.ThreadKeeper]: Go binds a goroutine that C calls to its thread.
func (i *instance) KeepsThread() {}

// Memory implements [engine.Instance].
func (i *instance) Memory() engine.Memory { return (*memory)(i) }

// A memory is that of an instance.
type memory instance

// Read implements [engine.Memory].
func (m *memory) Read(off, n uint32) ([]byte, bool) {
	if uint64(off)+uint64(n) > uint64(len(m.bytes)) {
		return nil, false
	}
	end := uint64(off) + uint64(n)
	return m.bytes[off:end:end], true
}

// Write implements [engine.Memory].
func (m *memory) Write(off uint32, p []byte) bool {
	if uint64(off)+uint64(len(p)) > uint64(len(m.bytes)) {
		return false
	}
	copy(m.bytes[off:], p)
	return true
}

// A global is a mutable global of a numeric type.
type global struct {
	box  *C.sandbox
	ref  C.wasmtime_global_t
	kind C.uint8_t
}

// Global implements [engine.Instance].
func (i *instance) Global(name string) engine.Global {
	found, ok := i.find(name)
	if !ok || found.kind != C.EXTERN_GLOBAL {
		return nil
	}
	kind := C.wasmtime_extern_type(i.box.context, &found)
	defer C.wasm_externtype_delete(kind)
	globaltype := C.wasm_externtype_as_globaltype_const(kind)
	content := C.wasm_valtype_kind(C.wasm_globaltype_content(globaltype))
	if C.wasm_globaltype_mutability(globaltype) == 0 || content > C.VALUE_F64 {
		return nil
	}
	return &global{i.box, *(*C.wasmtime_global_t)(unsafe.Pointer(&found.of)), content}
}

// Get implements [engine.Global].
func (g *global) Get() uint64 { return uint64(C.read_global(g.box, g.ref)) }

// Set implements [engine.Global].
func (g *global) Set(bits uint64) {
	if err := take(C.write_global(g.box, g.ref, g.kind, C.uint64_t(bits))); err != nil {
		panic(err) // it is mutable, and has this type
	}
}

// memoryExport is the name of the memory of each provider.
const memoryExport = "memory"

// Resize implements [engine.Instance]. The memory grows by a page, for which Reallocate returns another size: wasmtime takes that.
func (i *instance) Resize() error {
	found, ok := i.find(memoryExport)
	if !ok || found.kind != C.EXTERN_MEMORY {
		return errors.New("the memory is not exported")
	}
	return take(C.grow_memory(i.box, *(*C.wasmtime_memory_t)(unsafe.Pointer(&found.of))))
}

// Close implements [engine.Instance].
func (i *instance) Close() error {
	if !i.closed {
		i.release()
		i.memory.Free()
	}
	return nil
}

// release releases what C has of the instance.
func (i *instance) release() {
	i.closed, i.bytes = true, nil
	C.close_sandbox(i.box)
	C.free(unsafe.Pointer(i.box))
	i.pins.Unpin()
}

// wasmtimeReallocate gives a guest its memory. It reports whether the host does.
//
//export wasmtimeReallocate
func wasmtimeReallocate(host unsafe.Pointer, size C.size_t, base **C.uint8_t, length *C.size_t) C.bool {
	i := (*instance)(host)
	p, err := i.reallocate(uint64(size))
	if err != nil {
		i.stopped = err
	}
	if p == nil {
		return false
	}
	i.bytes = p
	*base, *length = (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(p))), C.size_t(len(p))
	return true
}

// reallocate turns a panic into an error, since Go must not unwind the stack of C.
func (i *instance) reallocate(size uint64) (p []byte, err error) {
	defer recoverPanic(&err)
	return i.memory.Reallocate(size), nil
}

// wasmtimeCallHost runs a host function. It reports whether the guest goes on.
//
//export wasmtimeCallHost
func wasmtimeCallHost(host unsafe.Pointer, index C.size_t, values *C.uint64_t, n C.size_t) C.bool {
	i := (*instance)(host)
	i.stopped = i.callHost(int(index), unsafe.Slice((*uint64)(unsafe.Pointer(values)), int(n)))
	return i.stopped == nil
}

func (i *instance) callHost(index int, stack []uint64) (err error) {
	defer recoverPanic(&err)
	i.module.funcs[index].Call(i.ctx, i.Memory(), i.host, stack)
	return nil
}

// recoverPanic, deferred, turns a panic into an error: that of an [engine.Stop], or the panic's own.
func recoverPanic(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		*err = p
	default:
		*err = fmt.Errorf("%v", p)
	}
}
