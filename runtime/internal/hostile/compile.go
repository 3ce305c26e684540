package hostile

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// honestCompile is what compiling a case may take, after which it is killed. Some cases are below every cap and take
// longer nevertheless: what bounds them is that process.
const honestCompile = 3 * time.Second

// patientCompile is for attacks that come after compiling, which has to succeed on the slowest machine.
const patientCompile = 20 * time.Second

// bomb is a function that is never called, but compiled.
func bomb(groups []byte, code ...[]byte) func() shape {
	return func() shape { return shape{funcs: []function{{typeVoid, body(groups, code...)}}} }
}

// branch is an if that does nothing.
var branch = cat(op(opLocalGet, 0), []byte{opIf, empty, opEnd})

// branchOut leaves a block in one of n places.
func branchOut(n int) []byte {
	return cat([]byte{opBlock, empty}, times(n, cat(op(opLocalGet, 0), op(opBrIf, 0))), []byte{opEnd})
}

// branchTable leaves blocks by one of n targets.
func branchTable(n int) []byte {
	targets := make([]byte, n+1)
	for i := range targets {
		targets[i] = byte(i % 50)
	}
	return nested(50, opBlock, cat(num(0), []byte{opBrTable}, u(uint64(n)), targets))
}

// phis is n loops over m locals, all of which live through them: an engine in SSA form makes n times m of them.
func phis(n, m int) []byte {
	var before, after []byte
	for i := range m {
		before = append(before, cat(num(int64(i)), op(opLocalSet, uint64(i)))...)
		after = append(after, cat(op(opLocalGet, uint64(i)), op(opDrop))...)
	}
	return cat(before, times(n, []byte{opLoop, empty, opEnd}), after)
}

func compileBombs() []Case {
	attack := func(name, why string, p func() shape) Case {
		return Case{Name: name, Row: RowCompile, Why: why, Modules: one(p), Want: excessive}
	}
	// bearable is a module below the caps, or not far above them: it is refused, or compiled in time, or killed.
	bearable := func(name, why string, p func() shape) Case {
		return Case{
			Name: name, Row: RowCompile, Why: why, Modules: one(p), Compile: honestCompile,
			Op: abi.OpRead, URI: "x:o", Want: either(answered, excessive),
		}
	}
	i := locals(1, i32)
	return []Case{
		attack("nested-blocks", "96 KB that compile for 12 s", bomb(nil, nested(32_000, opBlock, nil))),
		attack("nested-loops", "60 KB that compile for 19 s", bomb(nil, nested(20_000, opLoop, nil))),
		attack("nested-ifs", "a tower of conditions", bomb(i, times(20_000, cat(op(opLocalGet, 0), []byte{opIf, empty})), times(20_000, []byte{opEnd}))),
		attack("loops", "48 KB that compile for 20 s", bomb(nil, times(16_000, []byte{opLoop, empty, opEnd}))),
		attack("ifs", "80 KB that compile for 15 s", bomb(i, times(16_000, branch))),
		attack("br_if-chain", "128 KB that compile for more than 20 s", bomb(i, branchOut(32_000))),
		attack("br_table-wide", "a branch with a million targets compiles for more than 30 s", func() shape {
			return bomb(nil, branchTable(1_000_000))()
		}),
		attack("br_table-many", "100 branches with 8,000 targets each", func() shape {
			return bomb(nil, times(100, branchTable(8000)))()
		}),
		attack("phi-explosion", "200 loops over 3,900 locals: 800 MB from 40 KB", func() shape {
			return bomb(locals(3900, i32), phis(200, 3900))()
		}),
		attack("cost-in-all", "no function is over a cap, but together they compile for half a minute and more", func() shape {
			return shape{funcs: repeat(12, function{typeVoid, body(i, times(7900, branch))})}
		}),
		attack("straight-line", "a body of megabytes takes hundreds of them to compile", func() shape {
			return bomb(nil, times(512<<10, cat(num(0), op(opDrop), []byte{1})))()
		}),
		{
			Name: "type-params", Row: RowCompile, Why: "a type with 100,000 parameters is compared for 6 s", Want: excessive,
			Modules: bare(module(section(secType, vec(funcType(times(100_000, []byte{i32}), nil)))), module(section(secType, vec(funcType(nil, times(100_000, []byte{i32})))))),
		},
		{
			Name: "module-large", Row: RowCompile, Why: "a module of 33 MiB", Want: excessive,
			Modules: func() [][]byte { return [][]byte{shape{tail: custom("x", make([]byte, 33<<20))}.raw()} },
		},
		bearable("bearable-ifs", "as many conditions as the largest honest function has", bomb(i, times(1500, branch))),
		bearable("bearable-blocks", "nesting as deep as the deepest honest function", bomb(nil, nested(3200, opBlock, nil))),
		bearable("bearable-loops", "a thousand loops", bomb(nil, times(1000, []byte{opLoop, empty, opEnd}))),
		bearable("bearable-phis", "20 loops over 1,000 locals", bomb(locals(1000, i32), phis(20, 1000))),
		bearable("bearable-straight-line", "a body of a quarter MiB", bomb(nil, times(64<<10, cat(num(0), op(opDrop), []byte{1})))),
		bearable("bearable-functions", "10,000 functions", func() shape {
			return shape{funcs: repeat(10_000, function{typeVoid, body(nil)})}
		}),
		bearable("dear-ifs", "just below the cap of blocks", bomb(i, times(7900, branch))),
		bearable("dear-loops", "just below the cap of blocks", bomb(nil, times(7900, []byte{opLoop, empty, opEnd}))),
	}
}
