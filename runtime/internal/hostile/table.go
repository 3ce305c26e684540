package hostile

import "github.com/wasmres/wasmres/abi"

func tables() []Case {
	refusal := either(excessive, exhausted)
	large := func(name, why string, list ...[]byte) Case {
		return Case{
			Name: name, Row: RowTables, Why: why, Want: refusal,
			Modules: one(func() shape { return shape{tables: list} }),
		}
	}
	table := func(minimum uint64) []byte { return cat([]byte{funcref, 0}, u(minimum)) }
	grow := func(name, why, uri string, want []string) Case {
		return Case{
			Name: name, Row: RowTables, Why: why, Modules: file("tables.wasm"), Op: abi.OpRead, URI: uri, Times: 3, Want: want, After: "x:o",
		}
	}
	return []Case{
		large("table-1G", "a module of 17 bytes takes 1 GiB", table(1<<27)),
		large("table-32G", "a table of 2^32-1 entries ends the process", table(1<<32-1)),
		large("tables-4", "83 bytes take 1 GB", table(1<<25), table(1<<25), table(1<<25), table(1<<25)),
		large("tables-1000", "6 KB end the process", repeat(1000, table(1<<27))...),
		large("tables-200-small", "each is small, together they are not", repeat(200, table(100_000))...),
		large("table-externref", "references of the other kind take as much", cat([]byte{extern, 0}, u(1<<27))),
		{
			Name: "table-initialised", Row: RowTables, Why: "a table whose entries an expression sets, before anything runs", Want: malformed,
			Modules: one(func() shape {
				return shape{tables: [][]byte{cat([]byte{0x40, 0}, table(1<<20), op(opRefFunc, funcHandler), op(opEnd))}}
			}),
		},
		{
			Name: "table-limits", Row: RowTables, Why: "limits that are no limits", Want: malformed,
			Modules: shapes(
				func() shape { return shape{tables: [][]byte{{funcref, 1, 2, 1}}} },
				func() shape { return shape{tables: [][]byte{{funcref, 2, 1}}} },
				func() shape { return shape{tables: [][]byte{{funcref, 4, 1}}} },
				func() shape { return shape{tables: [][]byte{{i32, 0, 1}}} },
			),
		},
		grow("table-grow-1G", "one instruction takes 1 GB for 1.5 s", "x:a", answered),
		grow("table-grow-32G", "one instruction ends the process", "x:b", answered),
		grow("table-grow-loop", "a table that grows until it may not", "x:c", answered),
		grow("table-grow-doubling", "a table that doubles until it may not", "x:d", answered),
		grow("table-fill-out-of-range", "a fill over the end", "x:e", trapped),
		grow("table-get-out-of-range", "a read over the end", "x:f", trapped),
		grow("table-call-null", "a call of nothing", "x:g", trapped),
		grow("table-call-other-type", "a call in another type than the function has", "x:h", trapped),
		grow("table-call-out-of-range", "a call over the end", "x:i", trapped),
		grow("table-grow-second", "a table that has an upper bound of its own, of 2^32-1", "x:j", answered),
		references("reference-drop", "500,000 references in each call, each of which the engine keeps as an object of the host", nil, op(opDrop)),
		references("reference-table", "each reference is put into a table as well", num(0), op(opTableSet, 0)),
		references("reference-fill", "a table is filled with each reference", num(0), cat(num(1), op(opBulk, bulkTableFill, 0))),
		references("reference-grow", "a table grows by each reference", nil, cat(num(1), op(opBulk, bulkTableGrow, 0), op(opDrop))),
		references("reference-global", "each reference is put into a global as well", nil, op(opGlobalSet, 0)),
		references("reference-call", "each reference is that of another function", nil, op(opDrop)).of(otherReferences),
	}
}

// references makes a provider that answers as an honest one after it has made 500,000 references to a function, each
// between these instructions. It does so in its start function too.
func references(name, why string, before, after []byte) Case {
	const each = 500_000
	attack := cat(num(each), op(opLocalSet, 0), repeated(0, cat(before, op(opRefFunc, funcHandler), after)))
	return Case{
		Name: name, Row: RowTables, Why: why, Op: abi.OpRead, URI: "x:a", Times: 12, Want: answered, After: "x:o",
		Modules: one(func() shape {
			return shape{
				tables: [][]byte{{funcref, 0, 1}}, globals: [][]byte{{funcref, 1, opRefNull, funcref, opEnd}},
				locals: locals(1, i32), call: attack, start: attack,
			}
		}),
	}
}

// otherReferences is a provider that refers to 1,000 functions, 500 times in each call.
func otherReferences() shape {
	const functions, each = 1000, 500
	p := shape{locals: locals(1, i32), elements: [][]byte{cat([]byte{3, 0}, u(functions))}}
	var all []byte
	for i := range uint64(functions) {
		p.funcs = append(p.funcs, function{typeVoid, body(nil)})
		p.elements[0] = append(p.elements[0], u(firstFunc+i)...)
		all = append(all, cat(op(opRefFunc, firstFunc+i), op(opDrop))...)
	}
	p.call = cat(num(each), op(opLocalSet, 0), repeated(0, all))
	return p
}

// of sets the module of the case.
func (c Case) of(p func() shape) Case {
	c.Modules = one(p)
	return c
}

// repeated repeats code as often as a local says, at least once.
func repeated(local uint64, code []byte) []byte {
	return cat([]byte{opLoop, empty}, code, op(opLocalGet, local), num(-1), op(opAdd), op(opLocalTee, local), op(opBrIf, 0), op(opEnd))
}
