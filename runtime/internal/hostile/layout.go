package hostile

// A layout is the sections of a module, in the order of the binary format. What is empty is left out.
type layout struct {
	types, imports, kinds, tables [][]byte // kinds are the types of the module's own functions
	memory                        []byte   // limits
	globals, exports              [][]byte
	start                         []byte // the index of a function
	elements, bodies, data        [][]byte
	tail                          []byte // sections at the end
}

// bytes returns the module. Its data segments are counted.
func (l layout) bytes() []byte {
	var sections [][]byte
	add := func(id byte, items [][]byte) {
		if len(items) > 0 {
			sections = append(sections, section(id, vec(items...)))
		}
	}
	add(secType, l.types)
	add(secImport, l.imports)
	add(secFunction, l.kinds)
	add(secTable, l.tables)
	add(secMemory, [][]byte{l.memory})
	add(secGlobal, l.globals)
	add(secExport, l.exports)
	if l.start != nil {
		sections = append(sections, section(secStart, l.start))
	}
	add(secElement, l.elements)
	sections = append(sections, section(secDataCount, u(uint64(len(l.data)))))
	add(secCode, l.bodies)
	add(secData, l.data)
	return module(append(sections, l.tail)...)
}
