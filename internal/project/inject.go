package project

import (
	"fmt"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// Values of the binary format. The header is the magic number and the version, in bytes.
const (
	header         = 8
	kindFunction   = 0
	passiveSegment = 1
)

// inject adds data to a module as a passive segment, which leaves the layout of memory unchanged. It replaces the body of
// the exported function (dst, len i32) -> i32 by one that copies the first len bytes of the data to dst and returns the
// length of the data.
func inject(module []byte, export string, data []byte) ([]byte, error) {
	info, err := inspect(module, export)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(module)+len(data)+64), module[:header]...)
	for s, err := range wasm.Sections(module) {
		if err != nil {
			return nil, err
		}
		switch s.ID {
		case wasm.SectionDataCount:
		case wasm.SectionCode:
			out = wasm.AppendSection(out, wasm.SectionDataCount, wasm.AppendU32(nil, info.segments+1))
			code, err := withBody(s, info.function-info.imported, copyBody(info.segments, len(data)))
			if err != nil {
				return nil, err
			}
			out = wasm.AppendSection(out, s.ID, code)
		case wasm.SectionData:
			out = wasm.AppendSection(out, s.ID, withSegment(s, data))
		default:
			out = append(out, s.Raw...)
		}
	}
	return out, nil
}

// A moduleInfo is what inject needs to know about a module.
type moduleInfo struct {
	imported uint32 // functions
	function uint32 // index of the exported one
	segments uint32 // of data
}

func inspect(module []byte, export string) (found moduleInfo, err error) {
	exported := false
	for s, err := range wasm.Sections(module) {
		if err != nil {
			return moduleInfo{}, err
		}
		r := s.Reader()
		switch s.ID {
		case wasm.SectionImport:
			if found.imported, err = countFunctions(r); err != nil {
				return moduleInfo{}, err
			}
		case wasm.SectionExport:
			found.function, exported = findFunction(r, export)
		case wasm.SectionData:
			found.segments = r.U32()
		}
		if r.Err() != nil {
			return moduleInfo{}, r.Err()
		}
	}
	if !exported || found.segments == 0 || found.function < found.imported {
		return moduleInfo{}, fmt.Errorf("the engine cannot take scripts: its module has no data segment, or does not define the function %s", export)
	}
	return found, nil
}

// countFunctions counts the imports of a module. Only functions may be imported.
func countFunctions(r *wasm.Reader) (functions uint32, err error) {
	for n := r.U32(); n > 0 && r.Err() == nil; n-- {
		module, name := r.Name(), r.Name()
		if r.Byte() != kindFunction {
			return 0, fmt.Errorf("the engine cannot take scripts: its module imports %s.%s, which is not a function", module, name)
		}
		r.U32()
		functions++
	}
	return functions, nil
}

func findFunction(r *wasm.Reader, export string) (index uint32, ok bool) {
	for n := r.U32(); n > 0 && r.Err() == nil; n-- {
		name, kind, index := string(r.Name()), r.Byte(), r.U32()
		if name == export && kind == kindFunction {
			return index, true
		}
	}
	return 0, false
}

// copyBody returns the code of the function that copies data.
func copyBody(segment uint32, size int) []byte {
	const noLocals, localGet, i32Const, end = 0, byte(wasm.OpLocalGet), byte(wasm.OpI32Const), byte(wasm.OpEnd)
	body := []byte{noLocals, localGet, 0, i32Const, 0, localGet, 1, 0xfc, 8} // memory.init
	body = append(wasm.AppendU32(body, segment), 0, i32Const)
	return append(wasm.AppendS32(body, int32(size)), end)
}

// withBody returns a code section in which one function has another body.
func withBody(code wasm.Section, index uint32, body []byte) ([]byte, error) {
	r := code.Reader()
	count := r.U32()
	out := wasm.AppendU32(make([]byte, 0, len(code.Body)), count)
	for i := uint32(0); i < count && r.Err() == nil; i++ {
		old := r.Bytes(r.U32())
		if i == index {
			old = body
		}
		out = append(wasm.AppendU32(out, uint32(len(old))), old...)
	}
	return out, r.Err()
}

// withSegment returns a data section with one more segment.
func withSegment(data wasm.Section, content []byte) []byte {
	r := data.Reader()
	out := wasm.AppendU32(make([]byte, 0, len(data.Body)+len(content)+16), r.U32()+1)
	out = append(out, data.Body[len(data.Body)-r.Len():]...)
	out = wasm.AppendU32(append(out, passiveSegment), uint32(len(content)))
	return append(out, content...)
}
