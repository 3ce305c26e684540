package hostile

// computing are acts of guest code alone.
func computing() []act {
	const most = Memory - 2<<20 // bytes that bulk instructions go over, from 1 MiB on
	all := cat(num(Memory>>16-actorPages), op(opMemoryGrow, 0), op(opDrop))
	entries := int64(100_000)
	return []act{
		{name: "loop", why: "a loop without end", code: forever(), want: stopped},
		{name: "calltree", why: "calls without end and without a loop", code: own(64), prepare: growTree, want: stopped},
		{name: "recursion", why: "native stack", code: own(0), prepare: func(a *actor) {
			a.funcs = [][]byte{body(nil, own(0), own(0))}
		}, want: overflow},
		{name: "grow", why: "memory without end, then a trap", want: exhausted,
			code: forever(num(16), op(opMemoryGrow, 0), num(-1), op(opEq), op(opIf, empty), op(opUnreachable), op(opEnd))},
		{name: "fill", why: "all memory there is, written over and over by single instructions", want: stopped,
			code: cat(all, forever(bulk(bulkMemoryFill, 1<<20, 1, most, 0)))},
		{name: "copy", rare: true, why: "all memory there is, copied over and over by single instructions", want: stopped,
			code: cat(all, forever(bulk(bulkMemoryCopy, 1<<20, 2<<20, most-1<<20, 0, 0)))},
		{name: "table-grow", why: "a table that grows without end", want: stopped, prepare: withTable(1),
			code: forever(op(opRefNull, funcref), num(1000), op(opBulk, bulkTableGrow, 0), op(opDrop))},
		{name: "table-fill", rare: true, why: "a large table, written over and over by single instructions", want: stopped, prepare: withTable(entries),
			code: forever(num(0), op(opRefNull, funcref), num(entries), op(opBulk, bulkTableFill, 0))},
		{name: "table-set", why: "an instance that cannot be reset", want: answered, prepare: withTable(1),
			code: cat(num(0), op(opRefNull, funcref), op(opTableSet, 0))},
		{name: "references", why: "references to functions, for each of which an engine may keep something", want: stopped,
			code: forever(op(opRefFunc, uint64(len(hostFunctions))), op(opDrop))},
		{name: "trap", why: "a trap", code: op(opUnreachable), want: trapped},
		{name: "load-outside", rare: true, why: "a read beyond memory", code: cat(num(-1), op(opLoad8, 0, 0), op(opDrop)), want: trapped},
	}
}

// growTree makes 65 functions, each of which calls the one before it twice.
func growTree(a *actor) {
	a.funcs = [][]byte{body(nil)}
	for i := range 64 {
		a.funcs = append(a.funcs, body(nil, own(i), own(i)))
	}
}

// withTable adds a table of so many entries, without a maximum, to an actor.
func withTable(entries int64) func(*actor) {
	return func(a *actor) { a.tables = [][]byte{cat([]byte{funcref, 0}, u(uint64(entries)))} }
}
