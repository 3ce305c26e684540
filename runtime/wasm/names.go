package wasm

// nameSection is the custom section with the names of functions, locals and the like.
const (
	nameSection  = "name"
	nameFunction = 1 // the part of it with the names of functions
)

// maxFunctionName is the most bytes of a function's name; longer ones are cut.
const maxFunctionName = 256

// FunctionNames returns the names of functions in a module's name section, by index; nil when there are none. It leaves
// out functions from the index functions on, and cuts long names.
func FunctionNames(module []byte, functions uint32) (map[uint32]string, error) {
	section, err := Custom(module, nameSection)
	if err != nil {
		return nil, err
	}
	r := NewReader(section)
	for r.Len() > 0 {
		id := r.Byte()
		part := r.Part(r.U32())
		if id == nameFunction {
			return readNames(&part, functions)
		}
	}
	return nil, r.Err()
}

// readNames reads a vector of indices, each higher than the one before, and names.
func readNames(r *Reader, functions uint32) (map[uint32]string, error) {
	names := map[uint32]string{}
	next := uint32(0)
	for n := r.U32(); n > 0 && r.Err() == nil; n-- {
		index, name := r.U32(), r.Name()
		if index < next || index >= functions {
			break
		}
		names[index], next = string(name[:min(len(name), maxFunctionName)]), index+1
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	return names, nil
}
