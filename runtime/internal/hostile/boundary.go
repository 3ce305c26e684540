package hostile

import "github.com/wasmres/wasmres/abi"

// exporting is a module that exports what a provider must, with types of its choice.
func exporting(call, initialize []byte) []byte {
	types, kinds, exports := [][]byte{call}, [][]byte{u(0)}, [][]byte{cat(name(abi.ExportMemory), []byte{2, 0}), cat(name(abi.ExportCall), []byte{0, 0})}
	bodies := [][]byte{body(nil, op(opUnreachable))}
	if initialize != nil {
		types, kinds, bodies = append(types, initialize), append(kinds, u(1)), append(bodies, body(nil, op(opUnreachable)))
		exports = append(exports, cat(name(abi.ExportInitialize), []byte{0, 1}))
	}
	return module(section(secType, vec(types...)), section(secFunction, vec(kinds...)), section(secMemory, vec([]byte{0, 1})),
		section(secExport, vec(exports...)), section(secCode, vec(bodies...)))
}

var right = funcType([]byte{i32, i32}, []byte{i32})

// wrongCalls has the handler's export in every type but its own, references first: what the host passes in as a
// number the guest could use as a pointer into the host, and what it gets back is one.
func wrongCalls() [][]byte {
	var out [][]byte
	for _, t := range []byte{funcref, extern, i64, f32, f64, v128} {
		out = append(out,
			exporting(funcType([]byte{t, i32}, []byte{i32}), nil),
			exporting(funcType([]byte{i32, t}, []byte{i32}), nil),
			exporting(funcType([]byte{i32, i32}, []byte{t}), nil))
	}
	return append(out,
		exporting(funcType(nil, nil), nil),
		exporting(funcType([]byte{i32}, []byte{i32}), nil),
		exporting(funcType([]byte{i32, i32, i32}, []byte{i32}), nil),
		exporting(funcType([]byte{i32, i32}, nil), nil),
		exporting(funcType([]byte{i32, i32}, []byte{i32, i32}), nil))
}

func wrongInitializers() [][]byte {
	var out [][]byte
	for _, t := range []byte{funcref, extern, i32, v128} {
		out = append(out, exporting(right, funcType([]byte{t}, nil)), exporting(right, funcType(nil, []byte{t})))
	}
	return out
}

// importing is a provider that also imports something, with a description of its kind.
func importing(from, function string, t []byte, desc ...byte) []byte {
	if desc == nil {
		desc = []byte{0, 1}
	}
	return module(section(secType, vec(right, t)), section(secImport, vec(cat(name(from), name(function), desc))),
		section(secFunction, vec(u(0))), section(secMemory, vec([]byte{0, 1})),
		section(secExport, vec(cat(name(abi.ExportMemory), []byte{2, 0}), cat(name(abi.ExportCall), importedFunc(desc)))),
		section(secCode, vec(body(nil, num(0)))))
}

// importedFunc exports the module's own function, whose index depends on whether a function is imported.
func importedFunc(desc []byte) []byte {
	if desc[0] == 0 {
		return []byte{0, 1}
	}
	return []byte{0, 0}
}

// exportsOf is a provider with these exports beside the function and the memory it has.
func exportsOf(exports ...[]byte) []byte {
	return module(section(secType, vec(right, funcType([]byte{extern}, nil), funcType(nil, []byte{funcref}))),
		section(secFunction, vec(u(0), u(1), u(2))), section(secTable, vec([]byte{funcref, 0, 1})), section(secMemory, vec([]byte{0, 1})),
		section(secGlobal, vec(cat([]byte{i32, 1}, num(0), op(opEnd)))), section(secExport, vec(exports...)),
		section(secCode, vec(body(nil, num(0)), body(nil), body(nil, op(opRefNull, funcref)))))
}

func boundary() []Case {
	attack := func(name, why string, want []string, modules ...[]byte) Case {
		return Case{Name: name, Row: RowBoundary, Why: why, Want: want, Modules: bare(modules...)}
	}
	memory, call := cat(name(abi.ExportMemory), []byte{2, 0}), cat(name(abi.ExportCall), []byte{0, 0})
	take := funcType([]byte{i32, i32, i32, i32}, []byte{i32})
	void := funcType(nil, nil)
	return []Case{
		attack("export-types", "numbers of the host become native code pointers, addresses of the host become numbers", misfit, wrongCalls()...),
		attack("initialize-types", "the same in _initialize", misfit, wrongInitializers()...),
		attack("export-references", "a reference at the boundary of a function the host does not call today", foreign,
			exportsOf(memory, call, cat(name("free"), []byte{0, 1})), exportsOf(memory, call, cat(name("give"), []byte{0, 2}))),
		attack("export-kinds", "the name of a function or memory on something else", foreign,
			exportsOf(memory, cat(name(abi.ExportCall), []byte{1, 0})), exportsOf(memory, cat(name(abi.ExportCall), []byte{2, 0})),
			exportsOf(memory, cat(name(abi.ExportCall), []byte{3, 0})), exportsOf(call, cat(name(abi.ExportMemory), []byte{0, 0})),
			exportsOf(call, cat(name(abi.ExportMemory), []byte{1, 0})), exportsOf(call, cat(name(abi.ExportMemory), []byte{3, 0}))),
		attack("export-missing", "nothing to call, or no memory to talk through", misfit,
			exportsOf(memory), exportsOf(call), exportsOf(), module()),
		attack("export-command", "a program with main, which ends with proc_exit", misfit, exportsOf(memory, call, cat(name(abi.ExportStart), []byte{0, 0}))),
		attack("export-twice", "one name, two meanings", malformed, exportsOf(memory, call, call), exportsOf(memory, memory, call),
			exportsOf(memory, call, cat(name("x"), []byte{3, 0}), cat(name("x"), []byte{1, 0}))),
		attack("export-reserved", "names that the host adds when it prepares a module", foreign,
			exportsOf(memory, call, cat(name("wasmres:fuel"), []byte{3, 0})), exportsOf(memory, call, cat(name("wasmres:start"), []byte{0, 0})),
			exportsOf(memory, call, cat(name("wasmres:g0"), []byte{3, 0}))),
		attack("export-names", "names that would break out of a line of the log", foreign,
			exportsOf(memory, call, cat(name("a\x1b[2Jb"), []byte{3, 0})), exportsOf(memory, call, cat(name("a\nb"), []byte{3, 0})),
			exportsOf(memory, call, cat(name("\xff\xfe"), []byte{3, 0})), exportsOf(memory, call, cat(name("\x00"), []byte{3, 0}))),
		attack("export-name-long", "names of a MiB go into messages", excessive, exportsOf(memory, call, cat(name(string(times(1<<20, []byte{'n'}))), []byte{3, 0}))),
		attack("export-index", "exports of what is not there", malformed,
			exportsOf(memory, cat(name(abi.ExportCall), []byte{0, 9})), exportsOf(cat(name(abi.ExportMemory), []byte{2, 1}), call),
			exportsOf(memory, call, cat(name("x"), []byte{1, 1})), exportsOf(memory, call, cat(name("x"), []byte{3, 1})),
			exportsOf(memory, call, cat(name("x"), []byte{4, 0}))),
		attack("import-unknown", "functions the host does not offer", misfit,
			importing("env", "system", void), importing("wasmres_v1", "teleport", void), importing("wasmres_v2", "take", take),
			importing("", "", void), importing("wasi_unstable", "fd_write", take), importing("wasi_snapshot_preview1", "exec", void)),
		attack("import-types", "host functions in types that are not theirs: the host would take numbers for others", misfit,
			importing("wasmres_v1", "take", void), importing("wasmres_v1", "emit", funcType([]byte{i64, i64}, []byte{i32})),
			importing("wasmres_v1", "info", funcType([]byte{i32}, []byte{i32})), importing("env", "abort", funcType([]byte{i64, i64, i64}, []byte{i64})),
			importing("wasi_snapshot_preview1", "fd_write", funcType([]byte{i32, i32, i32}, []byte{i32})),
			importing("wasi_snapshot_preview1", "random_get", funcType([]byte{i32, i64}, []byte{i32}))),
		attack("import-references", "references of the guest's are addresses of the host's", foreign,
			importing("wasmres_v1", "take", funcType([]byte{funcref}, nil)), importing("wasmres_v1", "info", funcType([]byte{i32}, []byte{extern})),
			importing("env", "abort", funcType([]byte{extern, i32, i32, i32}, nil))),
		attack("import-meter", "what the host itself links when it meters a module", foreign,
			importing("wasmres", "tick", void), importing("wasmres:meter", "tick", void), importing("wasmres:host", "tick", void),
			importing("wasmres:meter", "refill", void), importing("wasmres:meter", "fuel", void, 3, i64, 1)),
		attack("import-kinds", "memories, tables, globals and tags of other modules", foreign,
			importing("env", "memory", void, 2, 0, 1), importing("env", "table", void, 1, funcref, 0, 1),
			importing("env", "global", void, 3, i32, 0), importing("env", "global", void, 3, i32, 1),
			importing("env", "tag", void, 4, 0, 1), importing("wasmres_v1", "take", void, 2, 0, 1)),
		attack("import-name-long", "names of a MiB go into messages", either(excessive, misfit), importing(string(times(1<<20, []byte{'n'})), "x", void)),
		attack("import-names", "names that would break out of a line of the log", foreign,
			importing("env", "a\x1b[2J\r\nb", void), importing("\xff\xfe", "x", void), importing("env\x00", "abort", void)),
	}
}

// sharing loads one module several times on one engine, which compiles it once.
func sharing() []Case {
	return []Case{
		{
			Name: "loaded-thrice", Row: RowSharing, Why: "types of one load are compared with those of another, which leaks addresses of the host",
			Modules: file("state.wasm"), Loads: 3, Op: abi.OpRead, URI: "x:a", Times: 3, Want: answered, After: "x:o",
		},
		{
			Name: "loaded-often", Row: RowSharing, Why: "unique types stay in the engine after a module is closed", Loads: 24,
			Modules: one(func() shape {
				p := shape{}
				for i := range 2000 {
					p.types = append(p.types, funcType(cat(u(0), times(i%40, []byte{i32}))[1:], times(i/40%16, []byte{i64})))
				}
				return p
			}),
			Op: abi.OpRead, URI: "x:o", Want: answered,
		},
	}
}
