package meter

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// bounded is the flag of limits that have a maximum.
const bounded = 1

// add appends an item to a section.
func (v *vector) add(item []byte) { v.count, v.items = v.count+1, append(v.items, item...) }

// imports adds the tick.
func (w *writer) imports() {
	v := &w.vectors[wasm.SectionImport]
	if r := w.reader(wasm.SectionImport); r.Len() > 0 {
		v.count = r.U32()
		v.items = append(v.items, r.Bytes(uint32(r.Len()))...)
	}
	item := wasm.AppendName(wasm.AppendName(nil, ImportModule), ImportTick)
	v.add(wasm.AppendU32(append(item, kindFunction), w.types.of(functionType{})))
}

// functionSection adds the helpers.
func (w *writer) functionSection() {
	v := &w.vectors[wasm.SectionFunction]
	for _, t := range w.functions {
		v.add(wasm.AppendU32(nil, t))
	}
	for _, h := range w.kinds {
		v.add(wasm.AppendU32(nil, w.types.of(h.functionType())))
	}
}

// tableSection bounds the growth of tables by the grant. Growing may always fail, so this changes no meaning.
func (w *writer) tableSection() error {
	v := &w.vectors[wasm.SectionTable]
	return w.each(wasm.SectionTable, func(r *wasm.Reader) {
		element := r.Byte()
		least, most := w.limits(r)
		most = min(most, max(least, w.cfg.TableEntries))
		v.add(appendLimits([]byte{element}, least, most))
	})
}

// memory declares one page more than the guest may have. An engine asks its allocator for that page too, and the
// allocator can answer with less memory than before.
func (w *writer) memory() error {
	v := &w.vectors[wasm.SectionMemory]
	err := w.each(wasm.SectionMemory, func(r *wasm.Reader) {
		least, most := w.limits(r)
		w.module.MinPages, w.module.MaxPages = least, min(most, w.cfg.MemoryPages, maxPages)
		v.add(appendLimits(nil, least, min(w.module.MaxPages+1, maxPages)))
	})
	switch {
	case err != nil:
		return err
	case v.count > 1:
		return malformed("more than one memory")
	case w.module.MinPages > w.module.MaxPages:
		return fmt.Errorf("the memory begins with %d pages, at most %d are possible", w.module.MinPages, w.module.MaxPages)
	}
	return nil
}

func appendLimits(out []byte, least, most uint32) []byte {
	return wasm.AppendU32(wasm.AppendU32(append(out, bounded), least), most)
}

// globals adds fuel, depth and dirty.
func (w *writer) globals() error {
	v := &w.vectors[wasm.SectionGlobal]
	err := w.each(wasm.SectionGlobal, func(r *wasm.Reader) {
		v.add(w.constant(r, []byte{r.Byte(), r.Byte()}))
	})
	zero := func(t wasm.ValueType, constant wasm.Opcode) []byte {
		return []byte{t, 1, byte(constant), 0, byte(wasm.OpEnd)}
	}
	v.add(zero(wasm.I64, wasm.OpI64Const))
	v.add(zero(wasm.I32, wasm.OpI32Const))
	v.add(zero(wasm.I32, wasm.OpI32Const))
	return err
}

// exports adds the globals and the start function.
func (w *writer) exports() error {
	v := &w.vectors[wasm.SectionExport]
	if err := w.each(wasm.SectionExport, w.export); err != nil {
		return err
	}
	v.add(appendExport(nil, ExportFuel, kindGlobal, w.fuel()))
	v.add(appendExport(nil, ExportDepth, kindGlobal, w.depth()))
	v.add(appendExport(nil, ExportDirty, kindGlobal, w.dirty()))
	for i, g := range w.variables {
		if g.mutable && g.numeric() {
			name := exportGlobal + strconv.Itoa(i)
			w.module.Globals = append(w.module.Globals, name)
			v.add(appendExport(nil, name, kindGlobal, uint32(i)))
		}
	}
	return w.start()
}

func (w *writer) export(r *wasm.Reader) {
	name, kind, index := string(r.Name()), r.Byte(), r.U32()
	if strings.HasPrefix(name, Prefix) {
		w.refuse("export %q is reserved", name)
	}
	switch kind {
	case kindFunction:
		index = w.function(index)
	case kindGlobal:
		w.checkGlobal(index)
	}
	w.vectors[wasm.SectionExport].add(appendExport(nil, name, kind, index))
}

// start exports the start function. Its section is not written.
func (w *writer) start() error {
	r := w.reader(wasm.SectionStart)
	if r.Len() == 0 {
		return nil
	}
	w.module.Start = true
	w.vectors[wasm.SectionExport].add(appendExport(nil, ExportStart, kindFunction, w.function(r.U32())))
	return r.Err()
}

func appendExport(out []byte, name string, kind byte, index uint32) []byte {
	return wasm.AppendU32(append(wasm.AppendName(out, name), kind), index)
}
