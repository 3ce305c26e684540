package meter

import (
	"fmt"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// A source is what the rewriting needs of the original module.
type source struct {
	binary    []byte
	sections  [wasm.SectionDataCount + 1]wasm.Section
	types     typeTable
	imported  uint32   // functions imported
	functions []uint32 // type of each function defined
	tables    []uint32 // entries that each table begins with
	variables []variable
	refused   error // the first thing found that is well-formed but not allowed
}

// A variable is a global of the module. Globals are never imported.
type variable struct {
	valueType wasm.ValueType
	mutable   bool
}

// numeric reports whether the host can read and write the global.
func (v variable) numeric() bool { return v.valueType >= wasm.F64 && v.valueType <= wasm.I32 }

// parse reads what the rewriting needs before it writes.
func parse(module []byte) (*source, error) {
	s := &source{binary: module}
	var seen [wasm.SectionDataCount + 1]bool
	for section, err := range wasm.Sections(module) {
		switch id := section.ID; {
		case err != nil:
			return nil, err
		case id == wasm.SectionCustom:
		case id > wasm.SectionDataCount:
			return nil, malformed("unknown section %d", id)
		case seen[id]:
			return nil, malformed("section %d comes twice", id)
		default:
			seen[id], s.sections[id] = true, section
		}
	}
	if err := s.each(wasm.SectionImport, s.readImport); err != nil {
		return nil, err
	}
	if err := s.each(wasm.SectionFunction, s.readFunction); err != nil {
		return nil, err
	}
	if err := s.each(wasm.SectionTable, s.readTable); err != nil {
		return nil, err
	}
	if err := s.each(wasm.SectionGlobal, s.readVariable); err != nil {
		return nil, err
	}
	return s, s.types.read(s.reader(wasm.SectionType))
}

// reader returns a reader of a section, which is empty when the module has none.
func (s *source) reader(id byte) *wasm.Reader { return s.sections[id].Reader() }

// each calls read for every item of a section that is a vector. It returns the first error of the reader or of read.
func (s *source) each(id byte, read func(*wasm.Reader)) error {
	r := s.reader(id)
	if r.Len() == 0 {
		return nil
	}
	for n := r.U32(); n > 0 && r.Err() == nil && s.refused == nil; n-- {
		read(r)
	}
	if err := r.Err(); err != nil {
		return err
	}
	return s.refused
}

// refuse ends the reading with an error.
func (s *source) refuse(format string, args ...any) {
	if s.refused == nil {
		s.refused = fmt.Errorf(format, args...)
	}
}

func (s *source) readFunction(r *wasm.Reader) { s.functions = append(s.functions, r.U32()) }

// readImport counts the functions. Admission refuses other imports, so that all state is the module's own.
func (s *source) readImport(r *wasm.Reader) {
	module, name, kind := r.Name(), r.Name(), r.Byte()
	r.U32()
	s.imported++
	switch {
	case r.Err() != nil:
	case kind != kindFunction:
		s.refuse("import %q %q is not a function", module, name)
	case string(module) == ImportModule:
		s.refuse("import from %q is reserved", module)
	}
}

func (s *source) readTable(r *wasm.Reader) {
	r.Byte() // the type
	least, _ := s.limits(r)
	s.tables = append(s.tables, least)
}

// limits reads the least and the most of a table or a memory.
func (s *source) limits(r *wasm.Reader) (least, most uint32) {
	flags := r.Byte()
	least, most = r.U32(), ^uint32(0)
	if flags == bounded {
		most = r.U32()
	} else if flags != 0 {
		s.refuse("limits with flags %#x", flags)
	}
	return least, most
}

func (s *source) readVariable(r *wasm.Reader) {
	v := variable{valueType: r.Byte(), mutable: r.Byte() == 1}
	s.constant(r, nil)
	s.variables = append(s.variables, v)
}

// Kinds of imports and exports.
const (
	kindFunction byte = 0
	kindGlobal   byte = 3
)

// constant appends a constant expression to out, with the new function indices.
func (s *source) constant(r *wasm.Reader, out []byte) []byte {
	var ins wasm.Instruction
	for r.Next(&ins) {
		switch ins.Op {
		case wasm.OpEnd:
			return append(out, byte(ins.Op))
		case wasm.OpRefFunc:
			out = appendIndexed(out, ins.Op, s.function(ins.Index))
			continue
		case wasm.OpGlobalGet:
			s.checkGlobal(ins.Index)
		}
		out = append(out, s.binary[ins.Start:ins.End]...)
	}
	r.Byte() // fails if nothing is left
	return out
}

// appendIndexed appends an instruction of one byte with one index.
func appendIndexed(out []byte, op wasm.Opcode, index uint32) []byte {
	return wasm.AppendU32(append(out, byte(op)), index)
}

// function returns the new index of a function: the tick stands behind the imported functions. It refuses a function
// that does not exist, since its index could become that of an added one.
func (s *source) function(i uint32) uint32 {
	if uint64(i) >= uint64(s.imported)+uint64(len(s.functions)) {
		s.refuse("there is no function %d", i)
	}
	if i >= s.imported {
		i++
	}
	return i
}

// checkGlobal refuses a global that does not exist: its index could become that of an added one.
func (s *source) checkGlobal(i uint32) {
	if uint64(i) >= uint64(len(s.variables)) {
		s.refuse("there is no global %d", i)
	}
}
