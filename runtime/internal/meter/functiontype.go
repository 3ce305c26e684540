package meter

import "github.com/wasmres/wasmres/runtime/wasm"

// formFunction begins a function type.
const formFunction = 0x60

// A typeTable is the type section: the module's types, then those added.
type typeTable struct {
	entries []functionType
	index   map[functionType]uint32 // of the first of equal types
	results int                     // the most of any
}

// A functionType lists value types.
type functionType struct{ params, results string }

// read reads the type section.
func (t *typeTable) read(r *wasm.Reader) error {
	t.index = map[functionType]uint32{}
	if r.Len() == 0 {
		return nil
	}
	for n := r.U32(); n > 0 && r.Err() == nil; n-- {
		if form := r.Byte(); form != formFunction && r.Err() == nil {
			return malformed("unknown form %#x of a type", form)
		}
		params := string(r.Bytes(r.U32()))
		t.add(functionType{params: params, results: string(r.Bytes(r.U32()))})
	}
	return r.Err()
}

func (t *typeTable) add(f functionType) uint32 {
	i := uint32(len(t.entries))
	t.entries = append(t.entries, f)
	t.results = max(t.results, len(f.results))
	if _, ok := t.index[f]; !ok {
		t.index[f] = i
	}
	return i
}

// of returns the index of a type, adding it if there is none equal.
func (t *typeTable) of(f functionType) uint32 {
	if i, ok := t.index[f]; ok {
		return i
	}
	return t.add(f)
}

// widest returns the most results of a type for each of two bytes, at least 1.
func (t *typeTable) widest() uint64 {
	return max(1, uint64(t.results+1)/2)
}

func (t *typeTable) vector() vector {
	v := vector{count: uint32(len(t.entries))}
	for _, f := range t.entries {
		v.items = wasm.AppendName(append(v.items, formFunction), f.params)
		v.items = wasm.AppendName(v.items, f.results)
	}
	return v
}
