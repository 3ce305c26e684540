package hostile

import "github.com/wasmres/wasmres/abi"

// small is a provider with a section of each kind.
func small() []byte {
	return shape{
		tables:   [][]byte{{funcref, 0, 2}},
		globals:  [][]byte{cat([]byte{i32, 1}, num(0), op(opEnd))},
		elements: [][]byte{cat([]byte{0}, num(0), op(opEnd), vec(u(funcHandler)))},
	}.raw()
}

// truncated is a module cut short at each of its bytes.
func truncated() [][]byte {
	whole := small()
	var out [][]byte
	for n := range whole {
		out = append(out, whole[:n:n])
	}
	return out
}

// mutated is a module with one byte changed, at every place, in several ways.
func mutated() [][]byte {
	whole := small()
	var out [][]byte
	for n := range whole {
		for _, b := range []byte{0x80, 0xff, whole[n] ^ 1} {
			m := append([]byte(nil), whole...)
			m[n] = b
			out = append(out, m)
		}
	}
	return out
}

// code is a module with one function of type () -> () and this body.
func code(parts ...[]byte) []byte { return whole(body(nil, parts...)) }

// whole returns a provider that has a function with this body, so that a module that is accepted is noticed.
func whole(b []byte) []byte {
	return shape{funcs: []function{{typeVoid, b}}, tables: [][]byte{{funcref, 0, 1}}, globals: [][]byte{cat([]byte{i32, 0}, num(0), op(opEnd))}}.module()
}

// codes makes a module for each body.
func codes(bodies ...[]byte) func() [][]byte {
	var out [][]byte
	for _, b := range bodies {
		out = append(out, code(b))
	}
	return bare(out...)
}

func malformedBytes() []Case {
	attack := func(name, why string, modules func() [][]byte) Case {
		return Case{Name: name, Row: RowMalformed, Why: why, Modules: modules, Want: malformed}
	}
	types := section(secType, vec(funcType(nil, nil)))
	cut := attack("truncated", "a module cut short, at each of its bytes", truncated)
	cut.Want = foreign
	changed := attack("mutated", "a module with one byte changed: whatever it is then, it must come to an end", mutated)
	changed.Want = nil
	memories := func(limits ...[]byte) func() [][]byte {
		return func() [][]byte {
			var out [][]byte
			for _, l := range limits {
				out = append(out, shape{memory: l}.module())
			}
			return out
		}
	}
	return []Case{
		cut, changed,
		attack("header", "no module at all", bare(nil, []byte("\x00"), []byte("\x00asm"), []byte("\x00asm\x02\x00\x00\x00"), []byte("\x00asm\x0d\x00\x01\x00"),
			[]byte("\x7fELF\x02\x01\x01\x00"), []byte("(module)"), []byte("#!/bin/sh\n"), make([]byte, 1<<16))),
		attack("sections", "sections that are unknown, twice, out of order, or not used up", bare(
			module([]byte{14, 0}), module([]byte{0xff, 0}), module(types, types), module(section(secFunction, vec()), types),
			module(section(secType, vec(funcType(nil, nil)), []byte{0})), module(section(secType, u(2), funcType(nil, nil))),
			module(types, section(secFunction, vec(u(0)))), module(types, section(secCode, vec(body(nil)))),
			module(section(secDataCount, u(1))), module(section(secStart, u(0))), module(types, []byte{secFunction}))),
		attack("leb", "numbers that are too long, or say more than they may", bare(
			module(cat([]byte{secType, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00})), module(cat([]byte{secType, 0xff, 0xff, 0xff, 0xff, 0x1f})),
			module(section(secType, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x00})), module(section(secType, []byte{0x80, 0x80, 0x80, 0x80, 0x70})),
			code([]byte{opConst32, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, opDrop}), code([]byte{opConst32, 0xff, 0xff, 0xff, 0xff, 0x3f, opDrop}),
			code([]byte{0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, opDrop}))),
		attack("bodies", "functions that do not end, end twice, or end elsewhere", bare(
			whole(sized([]byte{0})), whole(sized(nil)), whole(sized([]byte{0, opEnd, opEnd})), whole(sized([]byte{0, opBlock, empty, opEnd})),
			whole(sized([]byte{0, opElse, opEnd})), whole(sized([]byte{0, opIf, empty, opElse, opElse, opEnd, opEnd})),
			oneFunc(u(100)), oneFunc(sized([]byte{0, opConst32, opEnd})))),
		attack("stack-types", "code that takes what is not on the stack, or something else", codes(
			op(opDrop), num(1), cat(num(1), []byte{0x50, opDrop}), cat(num(1), []byte{0x42, 1}, op(opAdd), op(opDrop)),
			cat(num(0), []byte{opIf, i32}, num(1), op(opEnd), op(opDrop)), []byte{opBlock, i32, opEnd, opDrop}, cat([]byte{0x43, 0, 0, 0, 0}, num(1), op(opAdd), op(opDrop)),
			cat([]byte{opRefNull, funcref}, op(opDrop), []byte{opRefNull, extern, 0xd1, 0xd1, opDrop}))),
		attack("indices", "locals, functions, types, globals, tables, segments and labels that are not there", codes(
			cat(op(opLocalGet, 0), op(opDrop)), op(opCall, 9999), op(opCall, math32), cat(num(0), op(opCallIndirect, 99, 0)), cat(num(0), op(opCallIndirect, typeVoid, 9)),
			cat(op(0x23, 5), op(opDrop)), cat(num(0), op(0x24, 0)), op(opBr, 5), cat(num(0), op(opBrIf, math32)), cat(num(0), op(opBrTable, 1, 0, 7)),
			bulk(bulkMemoryInit, 0, 0, 0, 9, 0), op(opBulk, 9, 9), cat(op(opRefFunc, 9999), op(opDrop)), op(opBlock, 99), bulk(bulkTableInit, 0, 0, 0, 9, 0))),
		attack("immediates", "alignments, lane indexes and reserved bytes that are not allowed", codes(
			cat(num(0), op(0x28, 3, 0), op(opDrop)), cat(num(0), op(0x28, 63, 0), op(opDrop)), cat(num(0), []byte{opMemoryGrow, 1, opDrop}), []byte{0x3f, 1, opDrop},
			cat([]byte{0xfd, 12}, make([]byte, 16), []byte{0xfd, 27, 4, opDrop}), cat(num(0), []byte{0x28, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0, opDrop}))),
		attack("opcodes", "instructions that do not exist", codes(
			[]byte{0x27}, []byte{0xc5}, []byte{0xff}, []byte{0xfc, 18}, []byte{0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f}, []byte{0xfd, 0xff, 0x7f}, []byte{0x1d}, []byte{0xf0})),
		attack("features", "instructions of features that are off", codes(
			op(0x12, funcStart), cat(num(0), op(0x13, typeVoid, 0)), cat(op(opRefFunc, funcStart), op(0x14, typeVoid)), []byte{0x06, empty, opEnd},
			[]byte{0x1f, empty, 0, opEnd}, op(0x08, 0), []byte{0xfe, 0x03, 0}, cat(num(0), num(0), []byte{0xfe, 0x1e, 2, 0, opDrop}), []byte{0xfb, 0, 0, opDrop},
			[]byte{0xd3, opDrop}, cat(times(3, cat([]byte{0xfd, 12}, make([]byte, 16))), []byte{0xfd, 0x85, 0x02, opDrop}), cat([]byte{0xd0, 0x6e, opDrop}), []byte{0xd0, 0x69, opDrop})),
		attack("types-features", "types of features that are off, some of them raw pointers of the host's", bare(
			module(section(secType, []byte{1, 0x5f, 0})), module(section(secType, []byte{1, 0x5e, i32, 0})), module(section(secType, []byte{1, 0x4e, 1, 0x60, 0, 0})),
			module(section(secType, []byte{1, 0x50, 0, 0x60, 0, 0})), module(section(secType, vec(funcType([]byte{0x69}, nil)))), module(section(secType, vec(funcType([]byte{0x64, 0x70}, nil)))),
			module(section(secType, vec(funcType([]byte{0x6e}, nil)))), module(section(secType, vec(funcType([]byte{0}, nil)))), module(section(secType, vec(funcType([]byte{empty}, nil)))),
			module(types, section(secTag, vec([]byte{0, 0}))))),
		attack("memories", "memories that are shared, 64 bits wide, of other page sizes, or bounded the wrong way round", memories(
			[]byte{3, 1, 1}, []byte{2, 1}, []byte{4, 1}, []byte{5, 1, 1}, []byte{7, 1, 1}, []byte{8, 1, 0}, []byte{1, 2, 1}, cat([]byte{0}, u(65537)), cat([]byte{1, 1}, u(1<<32-1)), []byte{0xff, 1})),
		attack("memories-two", "two memories, of which the host would use one", bare(
			module(section(secMemory, vec([]byte{0, 1}, []byte{0, 1}))),
			module(types, section(secMemory, vec([]byte{0, 1}, []byte{0, 1})), section(secExport, vec(cat(name(abi.ExportMemory), []byte{2, 1})))))),
		attack("constants", "initial values that run code, refer to what comes later, or to nothing", func() [][]byte {
			var out [][]byte
			for _, e := range [][]byte{
				cat(num(1), num(1), op(opAdd)), op(opCall, funcStart), op(0x23, 0), op(0x23, 99), nil, cat(num(1), num(2)), {0x42, 1},
				{opRefNull, funcref}, {opUnreachable}, times(10_000, num(1)),
			} {
				out = append(out, shape{globals: [][]byte{cat([]byte{i32, 0}, e, op(opEnd))}}.module())
			}
			return out
		}),
	}
}

const math32 = 1<<32 - 1
