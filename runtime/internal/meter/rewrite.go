package meter

import (
	"fmt"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// Names that a metered module imports and exports. A guest may use none that begins with Prefix.
const (
	Prefix       = "wasmres:"
	ImportModule = Prefix + "meter"
	ImportTick   = "tick"           // () -> (): fuel or depth is below zero
	ExportFuel   = Prefix + "fuel"  // mutable i64: units left until the next tick
	ExportDepth  = Prefix + "depth" // mutable i32: bytes of stack left
	ExportDirty  = Prefix + "dirty" // mutable i32: 1 once state was changed that cannot be reset
	ExportStart  = Prefix + "start" // () -> (): the start function, if [Module.Start]
	exportGlobal = Prefix + "g"     // and the global's index
)

// maxPages is the size of the largest memory.
const maxPages = 1 << 16

// Config is what the host grants a module.
type Config struct {
	MemoryPages  uint32   // the most pages a memory may have; a module that begins with more is refused
	TableEntries uint32   // the most entries a table may grow to; no table begins smaller than it asks for
	Frames       []uint32 // for each defined function its native frame in bytes; those missing are estimated, safely
}

// A Module is the metered form of a module.
type Module struct {
	Binary   []byte    // what the engine compiles: no custom sections
	Data     []Segment // the host writes them to the memory, in order, before anything is called
	Globals  []string  // exports of the module's own mutable numbers, to be saved and restored
	Start    bool      // [ExportStart] must be called once, after the data
	MinPages uint32    // pages the memory begins with
	MaxPages uint32    // at which the host's allocator refuses: Binary declares one page more, for shrinking
	CanDirty string    // why the instance may become dirty, as in "function 12 uses table.set"; empty when it cannot
	Imported uint32    // functions that the module imports
	Defined  uint32    // functions that it defines
}

// Original returns the index in the original module of a function of Binary. It is not ok for an added function.
func (m *Module) Original(index uint32) (original uint32, ok bool) {
	switch tick := m.Imported; {
	case index < tick:
		return index, true
	case index == tick || index-tick > m.Defined:
		return 0, false
	}
	return index - 1, true
}

// Rewrite returns the metered form of an admitted module. For an invalid one it may return an error or an invalid
// module. The result depends only on the arguments. Its Data are views of module.
func Rewrite(module []byte, cfg Config) (*Module, error) {
	s, err := parse(module)
	if err != nil {
		return nil, err
	}
	w := &writer{source: s, cfg: cfg, module: &Module{Imported: s.imported, Defined: uint32(len(s.functions))}}
	for _, step := range []func() error{w.tableSection, w.memory, w.globals, w.elements, w.code, w.referenceTable, w.data, w.exports} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if s.refused != nil {
		return nil, s.refused
	}
	w.module.Binary = w.assemble()
	return w.module, nil
}

// A writer makes the sections of the metered module.
type writer struct {
	*source
	cfg     Config
	module  *Module
	vectors [wasm.SectionDataCount + 1]vector
	helpers [helperKinds]uint32 // index of each helper function; 0 for those not used
	kinds   []helper            // the helper functions used, in the order of their indices
	places  map[uint32]uint32   // index in the table of references, by the function's new index
	refs    []uint32            // the functions in the table of references, by their new indices
	indexed bool                // instructions refer to data segments by index
}

// A vector is a section that is a count and so many items.
type vector struct {
	count uint32
	items []byte
}

// appendTo appends the section.
func (v *vector) appendTo(out []byte, id byte) []byte {
	var buf [5]byte
	count := wasm.AppendU32(buf[:0], v.count)
	out = wasm.AppendU32(append(out, id), uint32(len(count)+len(v.items)))
	return append(append(out, count...), v.items...)
}

// assemble writes the sections in their order.
func (w *writer) assemble() []byte {
	w.imports()
	w.functionSection()
	w.vectors[wasm.SectionType] = w.types.vector()
	size := len(header)
	for i := range w.vectors {
		size += len(w.vectors[i].items) + 16
	}
	out := append(make([]byte, 0, size), header...)
	for _, id := range order {
		if v := &w.vectors[id]; v.count > 0 {
			if id == wasm.SectionCode && w.indexed {
				out = wasm.AppendSection(out, wasm.SectionDataCount, wasm.AppendU32(nil, w.vectors[wasm.SectionData].count))
			}
			out = v.appendTo(out, id)
		}
	}
	return out
}

// header begins every module.
const header = "\x00asm\x01\x00\x00\x00"

// order is that of the sections that are vectors; the number of data segments stands before the code.
var order = [...]byte{
	wasm.SectionType, wasm.SectionImport, wasm.SectionFunction, wasm.SectionTable, wasm.SectionMemory,
	wasm.SectionGlobal, wasm.SectionExport, wasm.SectionElement, wasm.SectionCode, wasm.SectionData,
}

// tick is the index of the imported function.
func (s *source) tick() uint32 { return s.imported }

// Indices of the globals that are added.
func (s *source) fuel() uint32  { return uint32(len(s.variables)) }
func (s *source) depth() uint32 { return s.fuel() + 1 }
func (s *source) dirty() uint32 { return s.fuel() + 2 }

// malformed makes an error about a malformed module.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{wasm.ErrFormat}, args...)...)
}
