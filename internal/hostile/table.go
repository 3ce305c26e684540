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
	}
}
