package admit

import "github.com/wasmres/wasmres/runtime/wasm"

// ranks has the order of sections, by id; custom sections may stand anywhere.
var ranks = [...]int{
	wasm.SectionType: 1, wasm.SectionImport: 2, wasm.SectionFunction: 3, wasm.SectionTable: 4, wasm.SectionMemory: 5,
	wasm.SectionGlobal: 6, wasm.SectionExport: 7, wasm.SectionStart: 8, wasm.SectionElement: 9,
	wasm.SectionDataCount: 10, wasm.SectionCode: 11, wasm.SectionData: 12,
}

func (c *checker) section(s wasm.Section) {
	c.r = s.Reader()
	if s.ID == wasm.SectionCustom {
		c.custom()
		return
	}
	if int(s.ID) >= len(ranks) {
		c.invalid("unknown section %d", s.ID)
		return
	}
	if ranks[s.ID] <= c.last {
		c.invalid("section %d is out of order", s.ID)
		return
	}
	c.last = ranks[s.ID]
	c.content(s.ID)
	c.item = ""
	if c.ok() && c.r.Len() > 0 {
		c.invalid("section %d has bytes left over", s.ID)
	}
}

func (c *checker) content(id byte) {
	switch id {
	case wasm.SectionType:
		c.vector("type", boundTypes, 3, c.functionType)
	case wasm.SectionImport:
		c.vector("import", boundImports, 4, c.importing)
		c.importedFunctions, c.importedGlobals = len(c.functions), len(c.globals)
	case wasm.SectionFunction:
		c.vector("function", boundFunctions, 1, func() { c.functions = append(c.functions, c.typeIndex()) })
	case wasm.SectionTable:
		c.vector("table", boundTables, 3, c.defineTable)
	case wasm.SectionMemory:
		c.memorySection()
	case wasm.SectionGlobal:
		c.vector("global", boundGlobals, 5, c.defineGlobal)
	case wasm.SectionExport:
		c.exports = map[string]struct{}{}
		c.vector("export", boundExports, 3, c.export)
	case wasm.SectionStart:
		c.start()
	case wasm.SectionElement:
		c.vector("element segment", boundElementSegments, 3, c.elementSegment)
	case wasm.SectionDataCount:
		c.dataCount, c.hasCount = c.r.U32(), true
		c.checkLimit(boundDataSegments, uint64(c.dataCount))
	case wasm.SectionCode:
		c.code()
	case wasm.SectionData:
		c.vector("data segment", boundDataSegments, 2, c.dataSegment)
	}
}

// vector reads a count, which must be within b, and calls read for each item; an item has at least so many bytes.
func (c *checker) vector(item string, b bound, least int, read func()) {
	n := c.r.U32()
	if !c.ok() || !c.checkLimit(b, uint64(n)) {
		return
	}
	if uint64(n)*uint64(least) > uint64(c.r.Len()) {
		c.invalid("%d %ss do not fit into the section", n, item)
		return
	}
	c.item = item
	for c.index = 0; c.index < int(n) && c.ok(); c.index++ {
		read()
	}
}

// custom skips a custom section, after its name.
func (c *checker) custom() {
	c.customs++
	c.checkLimit(boundCustoms, uint64(c.customs))
	c.report.CustomBytes += uint64(c.r.Len())
	c.r.Name()
	c.ok()
}

func (c *checker) functionType() {
	if c.r.Byte() != 0x60 {
		c.invalid("a function type begins with 0x60")
		return
	}
	c.types = append(c.types, funcType{params: c.valueTypes(boundParams), results: c.valueTypes(boundResults)})
}

func (c *checker) valueTypes(b bound) []wasm.ValueType {
	n := c.r.U32()
	if !c.checkLimit(b, uint64(n)) {
		return nil
	}
	list := c.r.Bytes(n)
	for _, t := range list {
		if !wasm.IsValueType(t) {
			c.invalid("unknown value type %#x", t)
		}
	}
	return list
}

// typeIndex reads the index of an existing function type.
func (c *checker) typeIndex() uint32 {
	t := c.r.U32()
	if int64(t) >= int64(len(c.types)) {
		c.invalid("unknown type %d", t)
		return 0
	}
	return t
}

func (c *checker) defineTable() {
	t := c.r.Byte()
	if !wasm.IsRefType(t) {
		c.invalid("unknown reference type %#x", t)
		return
	}
	first, _ := c.limits(1<<32 - 1)
	c.checkLimit(boundTableEntries, uint64(first))
	c.tables = append(c.tables, t)
}

// memorySection reads the memories. There is at most one, imported ones included.
func (c *checker) memorySection() {
	switch n := c.r.U32(); {
	case n == 1:
		c.defineMemory()
	case n > 1:
		c.invalid("%d memories: one at most", n)
	}
}

func (c *checker) defineMemory() {
	first, most := c.limits(maxMemoryPages)
	if c.ok() && first > c.memoryPages {
		c.fail((&LimitError{limitMemory, uint64(first), uint64(c.memoryPages), "the module"}).public())
		return
	}
	if c.memories++; c.memories > 1 {
		c.invalid("%d memories: one at most", c.memories)
	}
	c.report.MemoryMin, c.report.MemoryMax = first, most
}

// limits reads the initial size and the maximum, if it is stated; neither may exceed bound.
func (c *checker) limits(bound uint32) (first, most uint32) {
	flag := c.r.Byte()
	first = c.r.U32()
	switch {
	case flag > 1:
		c.invalid("unknown limits %#x: neither shared nor 64-bit memories are supported", flag)
	case flag == 1:
		if most = c.r.U32(); most < first || most > bound {
			c.invalid("limits from %d to %d: at most %d", first, most, bound)
		}
	case first > bound:
		c.invalid("limits from %d: at most %d", first, bound)
	}
	return first, most
}

func (c *checker) defineGlobal() {
	g := c.globalType()
	c.constant(g.typ)
	c.globals = append(c.globals, g)
}

func (c *checker) globalType() global {
	t, mutable := c.r.Byte(), c.r.Byte()
	switch {
	case !wasm.IsValueType(t):
		c.invalid("unknown value type %#x", t)
	case mutable > 1:
		c.invalid("unknown mutability %#x", mutable)
	}
	return global{typ: t, mutable: mutable == 1}
}

func (c *checker) start() {
	f := c.functionIndex()
	if !c.ok() {
		return
	}
	if t := c.typeOf(f); len(t.params)+len(t.results) > 0 {
		c.invalid("the start function has type %s, which must be [] -> []", signature(t))
	}
}

// functionIndex reads the index of an existing function.
func (c *checker) functionIndex() uint32 {
	f := c.r.U32()
	if int64(f) >= int64(len(c.functions)) {
		c.invalid("unknown function %d", f)
		return 0
	}
	return f
}

// typeOf returns the type of an existing function.
func (c *checker) typeOf(f uint32) funcType { return c.types[c.functions[f]] }

// finish checks what depends on several sections.
func (c *checker) finish() {
	switch defined := len(c.functions) - c.importedFunctions; {
	case !c.ok():
	case c.bodies != defined:
		c.invalid("%d functions are declared, %d have code", defined, c.bodies)
	case c.hasCount && c.dataCount != c.data:
		c.invalid("%d data segments are announced, there are %d", c.dataCount, c.data)
	}
}
