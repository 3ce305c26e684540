package hostile

import "github.com/wasmres/wasmres/abi"

// callTree makes k functions, each of which calls the one before it twice, over a leaf: 2^k calls, no loop, a stack
// that is never deeper than k. The last function is the root.
func callTree(k int, leaf []byte) []function {
	fs := []function{{typeVoid, body(nil, leaf)}}
	for i := range k {
		fs = append(fs, function{typeVoid, body(nil, op(opCall, uint64(firstFunc+i)), op(opCall, uint64(firstFunc+i)))})
	}
	return fs
}

func root(k int) []byte { return op(opCall, uint64(firstFunc+k)) }

// indirectTree is a call tree through a table.
func indirectTree(k int) shape {
	table := []byte{0}
	table = append(table, cat(num(0), op(opEnd), u(uint64(k+1)))...)
	for i := range k + 1 {
		table = append(table, u(uint64(firstFunc+i))...)
	}
	fs := []function{{typeVoid, body(nil)}}
	for i := range k {
		call := cat(num(int64(i)), op(opCallIndirect, typeVoid, 0))
		fs = append(fs, function{typeVoid, body(nil, call, call)})
	}
	return shape{funcs: fs, tables: [][]byte{cat([]byte{funcref, 0}, u(uint64(k+1)))}, elements: [][]byte{table}, call: root(k)}
}

const big = 64 << 20 // bytes of memory that a bulk instruction goes over

func bigMemory() []byte { return cat([]byte{0}, u(big>>16)) }

// straight makes a handler of n equal instructions, one after the other.
func straight(n int, instruction []byte) func() shape {
	return func() shape { return shape{memory: bigMemory(), call: times(n, instruction)} }
}

// passive is a data segment of a MiB for memory.init.
func passive() []byte { return cat([]byte{1}, sized(make([]byte, 1<<20))) }

// bulkOnTables repeats an instruction over a table as large as tables may be.
func bulkOnTables(instruction []byte) func() shape {
	const entries = 100_000
	return func() shape {
		refs := cat([]byte{1, 0}, many(entries/2, u(funcHandler)))
		return shape{
			tables: [][]byte{cat([]byte{funcref, 0}, u(entries))}, elements: [][]byte{refs},
			call: times(1500, instruction),
		}
	}
}

func unstoppable() []Case {
	attack := func(name, why string, modules func() [][]byte) Case {
		return Case{
			Name: name, Row: RowUnstoppable, Why: why, Modules: modules,
			Op: abi.OpRead, URI: "x:a", Want: stopped, After: "x:o",
		}
	}
	bulkAttack := func(name, why string, modules func() [][]byte) Case {
		c := attack(name, why, modules)
		c.Memory, c.Compile = big, patientCompile
		return c
	}
	tableAttack := func(name, why string, instruction []byte) Case {
		c := attack(name, why, one(bulkOnTables(instruction)))
		c.Compile = patientCompile
		c.Timeout = Timeout / 5 // to compile more of them takes longer than to run them
		c.After = ""            // too little time for honest work on a busy machine
		return c
	}
	halved := func(c Case) Case { c.Timeout = Timeout / 2; return c } // for the same reason
	brief := func(c Case) Case { c.Timeout = Timeout / 10; return c } // a quick machine needs no longer for all of it
	ever := func(c Case) Case { c.After = ""; return c }              // such a module never serves anybody
	info := cat(num(0), op(opCall, funcInfo), op(opDrop))
	line := cat(num(1), num(0), num(8), op(opCall, funcLog))
	return []Case{
		attack("calltree-30", "seconds of calls in which no loop is ever entered",
			one(func() shape { return shape{funcs: callTree(30, nil), call: root(30)} })),
		attack("calltree-64", "the process freezes for ever at its next garbage collection",
			one(func() shape { return shape{funcs: callTree(64, nil), call: root(64)} })),
		ever(attack("calltree-64-start", "the same before the module is even ready",
			one(func() shape { return shape{funcs: callTree(64, nil), start: root(64)} }))),
		ever(attack("calltree-64-initialize", "the same in _initialize",
			one(func() shape { return shape{funcs: callTree(64, nil), initialize: root(64)} }))),
		ever(attack("calltree-64-describe", "the same while the module is asked what it is",
			func() [][]byte { return [][]byte{shape{funcs: callTree(64, nil), call: root(64)}.raw()} })),
		attack("calltree-64-indirect", "calls through a table are calls", one(func() shape { return indirectTree(64) })),
		withWant(attack("calltree-64-info", "host functions are called for ever and no loop is entered",
			one(func() shape { return shape{funcs: callTree(64, info), call: root(64)} })), flooded),
		withWant(attack("calltree-64-log", "the log is written for ever and no loop is entered",
			one(func() shape { return shape{funcs: callTree(64, line), call: root(64)} })), flooded),
		attack("calls-wide", "functions of many calls, four deep: the depth of the tree does not give it away",
			one(func() shape {
				fs := []function{{typeVoid, body(nil)}}
				for i := range 4 {
					fs = append(fs, function{typeVoid, body(nil, times(5000, op(opCall, uint64(firstFunc+i))))})
				}
				return shape{funcs: fs, call: root(4)}
			})),
		attack("fibonacci-60", "a tree by recursion, one branch of it at a time, 60 deep", file("recursion.wasm")).ask("x:f"),
		bulkAttack("fill-straight", "2,000 instructions, each of which fills 64 MiB",
			one(straight(2000, bulk(bulkMemoryFill, 0, 7, big, 0)))),
		bulkAttack("copy-straight", "2,000 instructions, each of which moves 63 MiB",
			one(straight(2000, bulk(bulkMemoryCopy, 1<<20, 0, big-1<<20, 0, 0)))),
		halved(bulkAttack("init-straight", "3,000 instructions, each of which copies a data segment of a MiB",
			one(func() shape {
				p := straight(3000, bulk(bulkMemoryInit, 1<<20, 0, 1<<20, 1, 0))()
				p.data = [][]byte{passive()}
				return p
			}))),
		ever(bulkAttack("fill-start", "the same as start function",
			one(func() shape {
				return shape{memory: bigMemory(), start: times(2000, bulk(bulkMemoryFill, 0, 7, big, 0))}
			}))),
		bulkAttack("fill-loop", "a loop whose check comes too seldom", file("loops.wasm")).ask("x:g"),
		bulkAttack("copy-loop", "a loop whose check comes too seldom", file("loops.wasm")).ask("x:h"),
		tableAttack("table-fill-straight", "1,500 instructions, each of which fills 100,000 entries",
			cat(num(0), op(opRefNull, funcref), num(100_000), op(opBulk, bulkTableFill, 0))),
		tableAttack("table-copy-straight", "1,500 instructions, each of which moves 99,999 entries",
			bulk(bulkTableCopy, 1, 0, 99_999, 0, 0)),
		brief(tableAttack("table-init-straight", "1,500 instructions, each of which sets 50,000 entries",
			bulk(bulkTableInit, 0, 0, 50_000, 0, 0))),
	}
}

// ask sets the URI of the case.
func (c Case) ask(uri string) Case {
	c.URI = uri
	return c
}

func withWant(c Case, want []string) Case {
	c.Want = want
	return c
}
