package meter

import "github.com/wasmres/wasmres/runtime/wasm"

// An engine may make a new host object for each ref.func it executes, and keep it as long as the instance, as wazero
// does. A metered module has no ref.func in its code: the code reads an added table, whose one segment holds each
// function that the code refers to, once. So the number of these objects is fixed when an instance is made: entries in
// segments, globals that are references, and functions referred to.

// appendReference appends, in place of ref.func of a function given by its new index: table.get of its reference.
func (w *writer) appendReference(out []byte, function uint32) []byte {
	place, ok := w.places[function]
	if !ok {
		if w.places == nil {
			w.places = map[uint32]uint32{}
		}
		place = uint32(len(w.refs))
		w.places[function], w.refs = place, append(w.refs, function)
	}
	out = wasm.AppendS32(append(out, byte(wasm.OpI32Const)), int32(place))
	return appendIndexed(out, wasm.OpTableGet, w.referencesAt())
}

// referencesAt is the index of the table of references, if there is one.
func (w *writer) referencesAt() uint32 { return uint32(len(w.source.tables)) }

// referenceTable adds the table of references and the segment that fills it, behind all others.
func (w *writer) referenceTable() error {
	n := uint32(len(w.refs))
	if n == 0 {
		return nil
	}
	const explicit, functions = 2, 0 // the segment names its table; its items are functions
	w.vectors[wasm.SectionTable].add(appendLimits([]byte{wasm.FuncRef}, n, n))
	item := wasm.AppendU32(wasm.AppendU32(nil, explicit), w.referencesAt())
	item = append(item, byte(wasm.OpI32Const), 0, byte(wasm.OpEnd), functions)
	item = wasm.AppendU32(item, n)
	for _, f := range w.refs {
		item = wasm.AppendU32(item, f)
	}
	w.vectors[wasm.SectionElement].add(item)
	return nil
}

// checkElements refuses an active segment that does not fit its table. By the specification, making the instance traps;
// wazero makes the instance without this segment and all later ones, including that of the references.
func (s *source) checkElements(table uint32, place *wasm.Instruction, n uint32) {
	switch {
	case uint64(table) >= uint64(len(s.tables)):
		s.refuse("there is no table %d", table)
	case place.Op != wasm.OpI32Const:
		s.refuse("the place of an element segment is not a number")
	case uint64(uint32(place.Value))+uint64(n) > uint64(s.tables[table]):
		s.refuse("an element segment does not fit table %d, which begins with %d entries: %d at %d", table, s.tables[table], n, uint32(place.Value))
	}
}

// checkTables refuses an instruction on a table that does not exist: its index could be that of the added table.
func (s *source) checkTables(ins *wasm.Instruction) {
	switch ins.Op {
	case wasm.OpTableCopy:
		s.checkTable(ins.Index)
		s.checkTable(ins.Index2)
	case wasm.OpTableInit, wasm.OpCallIndirect:
		s.checkTable(ins.Index2)
	case wasm.OpTableGet, wasm.OpTableSet, wasm.OpTableGrow, wasm.OpTableSize, wasm.OpTableFill:
		s.checkTable(ins.Index)
	}
}

func (s *source) checkTable(i uint32) {
	if uint64(i) >= uint64(len(s.tables)) {
		s.refuse("there is no table %d", i)
	}
}
