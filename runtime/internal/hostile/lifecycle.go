package hostile

import "github.com/wasmres/wasmres/abi"

func lifecycle() []Case {
	early := func(name, why string, want []string, p func() shape) Case {
		return Case{Name: name, Row: RowLifecycle, Why: why, Modules: one(p), Op: abi.OpRead, URI: "x:a", Want: want}
	}
	often := func(c Case) Case {
		c.Loads = 30
		return c
	}
	unreachable := op(opUnreachable)
	touch := bulk(bulkMemoryFill, 1<<16, 1, Memory-1<<16, 0)
	return []Case{
		often(early("start-trap", "memory of an instance whose start traps is never freed", trapped, func() shape { return shape{start: unreachable} })),
		often(early("initialize-trap", "the same in _initialize", trapped, func() shape { return shape{initialize: unreachable} })),
		often(early("start-trap-memory", "the same with all memory used", either(trapped, stopped), func() shape {
			return shape{memory: cat([]byte{0}, u(Memory>>16)), start: cat(touch, unreachable)}
		})),
		early("start-overflow", "recursion in the start function, and a trap in its last frame", overflow, func() shape {
			return shape{funcs: []function{{typeVoid, body(nil, op(opCall, firstFunc), op(opCall, firstFunc))}}, start: root(0)}
		}),
		early("start-grow", "a start that takes all memory there is", answered, func() shape {
			return shape{start: cat(num(Memory>>16-1), op(opMemoryGrow, 0), op(opDrop))}
		}),
		early("start-memory", "a start that uses all memory there is", either(answered, stopped), func() shape {
			return shape{memory: cat([]byte{0}, u(Memory>>16)), start: touch}
		}),
		{
			Name: "start-host", Row: RowLifecycle, Why: "host functions before there is a call they could be for",
			Modules: file("early.wasm"), Op: abi.OpRead, URI: "x:o", Want: either(answered, []string{"protocol"}),
		},
		{
			Name: "handler-imported", Row: RowLifecycle, Why: "a host function as the guest's own handler: the host calls itself",
			Modules: func() [][]byte {
				return [][]byte{
					packed(handlerImported(abi.ImportModule, abi.ImportEmit)), packed(handlerImported(abi.ImportModule, abi.ImportBody)),
					packed(handlerImported("wasi_snapshot_preview1", "random_get")),
				}
			},
			Op: abi.OpRead, URI: "x:a", Times: 3, Want: either(misfit, []string{"protocol"}),
		},
		{
			Name: "start-index", Row: RowLifecycle, Why: "a start function that is not there, or takes parameters", Want: malformed,
			Modules: bare(
				withStart(9), withStart(0),
			),
		},
		{
			Name: "data-outside", Row: RowLifecycle, Why: "segments that do not fit: a host that copies them itself writes outside", Want: either(foreign, trapped),
			Op: abi.OpRead, URI: "x:a",
			Modules: shapes(
				func() shape { return shape{data: [][]byte{cat([]byte{0}, num(65535), op(opEnd), sized([]byte("ab")))}} },
				func() shape { return shape{data: [][]byte{cat([]byte{0}, num(-1), op(opEnd), sized([]byte("ab")))}} },
				func() shape { return shape{data: [][]byte{cat([]byte{0}, num(65537), op(opEnd), sized(nil))}} },
				func() shape { return shape{memory: []byte{0, 0}} },
			),
		},
		{
			Name: "elements-outside", Row: RowLifecycle, Why: "segments that do not fit their table: some engines leave them out, and all that follow", Want: malformed,
			Op: abi.OpRead, URI: "x:a",
			Modules: shapes(
				func() shape { return withElements(num(1), funcHandler) },
				func() shape { return withElements(num(-1), funcHandler) },
			),
		},
	}
}

// withStart is a provider whose start function has this index; 0 takes parameters.
func withStart(index uint64) []byte {
	return module(section(secType, vec(right)), section(secFunction, vec(u(0))), section(secMemory, vec([]byte{0, 1})),
		section(secExport, vec(cat(name(abi.ExportMemory), []byte{2, 0}), cat(name(abi.ExportCall), []byte{0, 0}))),
		section(secStart, u(index)), section(secCode, vec(body(nil, num(0)))))
}

// withElements puts a function into a table of one entry.
func withElements(at []byte, function uint64) shape {
	return shape{
		tables:   [][]byte{{funcref, 1, 1, 1}},
		elements: [][]byte{cat([]byte{0}, at, op(opEnd), vec(u(function)))},
	}
}

// handlerImported exports a host function that has the type of a handler as the handler.
func handlerImported(from, function string) []byte {
	return module(section(secType, vec(right)), section(secImport, vec(cat(name(from), name(function), []byte{0, 0}))), section(secMemory, vec([]byte{0, 1})),
		section(secExport, vec(cat(name(abi.ExportMemory), []byte{2, 0}), cat(name(abi.ExportCall), []byte{0, 0}))))
}
