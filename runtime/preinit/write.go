package preinit

import (
	"encoding/binary"
	"errors"

	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Values of the binary format.
const (
	magicAndVersion = "\x00asm\x01\x00\x00\x00"
	activeSegment   = 0
	passiveSegment  = 1
	explicitSegment = 2
	kindFunction    = 0
	mutable         = 1
	hasMaximum      = 1
)

// checkSegments refuses passive data segments: instructions refer to them by their index, which changes.
func checkSegments(module []byte) error {
	for s, err := range wasm.Sections(module) {
		if err != nil {
			return err
		}
		if s.ID != wasm.SectionData {
			continue
		}
		r := s.Reader()
		for n := r.U32(); n > 0 && r.Err() == nil; n-- {
			switch r.U32() {
			case passiveSegment:
				return errors.New("the module has a passive data segment: it must have been built without")
			case explicitSegment:
				r.U32()
			}
			skipConstant(r)
			r.Bytes(r.U32())
		}
	}
	return nil
}

// A state is what initialising a module leaves.
type state struct {
	memory  []byte
	globals []uint64 // the mutable numbers, in their order
}

// write returns a copy of a module that begins with the state, and has no export of that name.
func (s *state) write(module []byte, export string) ([]byte, error) {
	segments := segmentsOf(s.memory)
	data := wasm.AppendU32(nil, uint32(len(segments)))
	for _, g := range segments {
		data = append(data, activeSegment, byte(wasm.OpI32Const))
		data = append(wasm.AppendS32(data, int32(uint32(g.offset))), byte(wasm.OpEnd))
		data = append(wasm.AppendU32(data, uint32(len(g.bytes))), g.bytes...)
	}
	out := append(make([]byte, 0, len(module)+len(data)), magicAndVersion...)
	written := false
	for section, err := range wasm.Sections(module) {
		if err != nil {
			return nil, err
		}
		r := section.Reader()
		switch body := section.Body; section.ID {
		case wasm.SectionMemory:
			out = wasm.AppendSection(out, section.ID, s.memorySection(r, body))
		case wasm.SectionGlobal:
			out = wasm.AppendSection(out, section.ID, s.globalSection(r, section))
		case wasm.SectionExport:
			out = wasm.AppendSection(out, section.ID, exportsWithout(r, section, export))
		case wasm.SectionDataCount:
			out = wasm.AppendSection(out, section.ID, wasm.AppendU32(nil, uint32(len(segments))))
		case wasm.SectionData:
			out, written = wasm.AppendSection(out, section.ID, data), true
		default:
			out = append(out, section.Raw...)
		}
		if r.Err() != nil {
			return nil, r.Err()
		}
	}
	if !written {
		out = wasm.AppendSection(out, wasm.SectionData, data)
	}
	return out, nil
}

// memorySection has the one memory begin as large as it is now.
func (s *state) memorySection(r *wasm.Reader, body []byte) []byte {
	pages := uint32(len(s.memory) / engine.PageSize)
	r.U32()
	flag := r.Byte()
	r.U32()
	out := wasm.AppendU32([]byte{1, flag}, pages)
	if flag == hasMaximum {
		out = wasm.AppendU32(out, r.U32())
	}
	return out
}

// globalSection has the mutable numbers begin as they are now.
func (s *state) globalSection(r *wasm.Reader, section wasm.Section) []byte {
	start := r.Offset()
	text := func(from int) []byte { return section.Body[from-start : r.Offset()-start] }
	out := wasm.AppendU32(nil, r.U32())
	next := 0
	for r.Len() > 0 {
		from := r.Offset()
		typ, mut := r.Byte(), r.Byte()
		skipConstant(r)
		if mut != mutable || typ < wasm.F64 || next == len(s.globals) {
			out = append(out, text(from)...)
			continue
		}
		out = appendConstant(append(out, typ, mut), typ, s.globals[next])
		next++
	}
	return out
}

func skipConstant(r *wasm.Reader) {
	var ins wasm.Instruction
	for r.Next(&ins) && ins.Op != wasm.OpEnd {
	}
}

// appendConstant appends the constant expression of a number, whose bits are the low ones of v.
func appendConstant(out []byte, typ wasm.ValueType, v uint64) []byte {
	switch typ {
	case wasm.I32:
		out = wasm.AppendS32(append(out, byte(wasm.OpI32Const)), int32(uint32(v)))
	case wasm.I64:
		out = wasm.AppendS64(append(out, byte(wasm.OpI64Const)), int64(v))
	case wasm.F32:
		out = binary.LittleEndian.AppendUint32(append(out, byte(wasm.OpF32Const)), uint32(v))
	default:
		out = binary.LittleEndian.AppendUint64(append(out, byte(wasm.OpF64Const)), v)
	}
	return append(out, byte(wasm.OpEnd))
}

// exportsWithout returns the exports but for that of a function.
func exportsWithout(r *wasm.Reader, section wasm.Section, name string) []byte {
	start := r.Offset()
	count := r.U32()
	var items []byte
	for n := count; n > 0 && r.Err() == nil; n-- {
		from := r.Offset()
		found, kind := string(r.Name()), r.Byte()
		r.U32()
		if kind == kindFunction && found == name {
			count--
			continue
		}
		items = append(items, section.Body[from-start:r.Offset()-start]...)
	}
	return append(wasm.AppendU32(nil, count), items...)
}

// A segment is a run of bytes of a memory.
type segment struct {
	offset int
	bytes  []byte
}

// maxSegments is well below what a module may have.
const maxSegments = 20_000

// segmentsOf returns the runs of a memory that are not zero. Between two of them are as many zeros as another segment
// would cost, or more where there would be too many segments.
func segmentsOf(memory []byte) []segment {
	for gap := 12; ; gap *= 2 {
		if found := runs(memory, gap); len(found) <= maxSegments {
			return found
		}
	}
}

// runs returns the parts of memory between gaps of at least so many zeros.
func runs(memory []byte, gap int) (found []segment) {
	for at := nonZero(memory, 0); at < len(memory); {
		end := at
		next := at
		for next < len(memory) && next-end < gap {
			end = next + 1
			next = nonZero(memory, end)
		}
		found = append(found, segment{at, memory[at:end]})
		at = next
	}
	return found
}

// nonZero returns the index of the first byte from at on that is not zero; the length of memory if there is none.
func nonZero(memory []byte, at int) int {
	for at < len(memory) && memory[at] == 0 {
		if at%8 == 0 && at+8 <= len(memory) && binary.LittleEndian.Uint64(memory[at:]) == 0 {
			at += 8
			continue
		}
		at++
	}
	return at
}
