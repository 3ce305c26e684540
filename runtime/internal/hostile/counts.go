package hostile

import (
	"math"
	"strconv"
)

// oneFunc is a module with one function and nothing else. b is a body with its size.
func oneFunc(b []byte) []byte {
	return module(section(secType, vec(funcType(nil, nil))), section(secFunction, vec(u(0))), section(secCode, vec(b)))
}

// claims are counts that no module has as much bytes for. The engine would allocate before it looks; some of these
// fail at once, some fill the machine first.
var claims = []uint64{math.MaxUint32, 1 << 30, 1 << 26}

// claiming makes a module for each claim.
func claiming(make func(count []byte) []byte) func() [][]byte {
	return func() [][]byte {
		var out [][]byte
		for _, n := range claims {
			out = append(out, make(u(n)))
		}
		return out
	}
}

func counts() []Case {
	attack := func(name, why string, modules func() [][]byte) Case {
		return Case{Name: name, Row: RowCounts, Why: why, Modules: modules, Want: excessive}
	}
	names := []string{"", "types", "imports", "functions", "tables", "memories", "globals", "exports", "", "elements", "bodies", "data", "datacount", "tags"}
	var cases []Case
	for id, title := range names {
		if title == "" {
			continue
		}
		cases = append(cases, attack("count-"+title, "15 bytes that say there are billions of "+title+" end the process",
			claiming(func(n []byte) []byte { return module(section(byte(id), n)) })))
	}
	inType := func(before []byte) func(n []byte) []byte {
		return func(n []byte) []byte { return module(section(secType, u(1), []byte{0x60}, before, n)) }
	}
	inBody := func(b func(n []byte) []byte) func(n []byte) []byte {
		return func(n []byte) []byte { return oneFunc(sized(b(n))) }
	}
	cases = append(cases,
		attack("count-params", "a type that says it has billions of parameters", claiming(inType(nil))),
		attack("count-results", "a type that says it has billions of results", claiming(inType([]byte{0}))),
		attack("count-groups", "a function that says it has billions of groups of locals",
			claiming(inBody(func(n []byte) []byte { return cat(n, []byte{opEnd}) }))),
		attack("count-locals", "one group of billions of locals, which is valid",
			claiming(inBody(func(n []byte) []byte { return cat(u(1), n, []byte{i32, opEnd}) }))),
		attack("count-locals-overflow", "groups of locals whose sum is small when it is taken in 32 bits",
			bare(oneFunc(body(vec(cat(u(1<<31), []byte{i32}), cat(u(1<<31), []byte{i32}), cat(u(3), []byte{i32})))))),
		attack("count-targets", "a branch that says it has billions of targets",
			claiming(inBody(func(n []byte) []byte { return cat([]byte{0}, num(0), []byte{opBrTable}, n, []byte{0, opEnd}) }))),
		attack("count-select", "a select that says it has billions of types",
			claiming(inBody(func(n []byte) []byte { return cat([]byte{0, 0x1c}, n, []byte{i32, opEnd}) }))),
		attack("count-element-entries", "a segment that says it has billions of entries",
			claiming(func(n []byte) []byte {
				return module(section(secTable, vec([]byte{funcref, 0, 1})), section(secElement, u(1), []byte{0}, num(0), op(opEnd), n))
			})),
		attack("count-data-bytes", "a segment that says it has billions of bytes",
			claiming(func(n []byte) []byte {
				return module(section(secMemory, vec([]byte{0, 1})), section(secData, u(1), []byte{0}, num(0), op(opEnd), n))
			})),
		attack("count-name", "an import whose name says it has billions of bytes",
			claiming(func(n []byte) []byte { return module(section(secImport, u(1), n)) })),
		attack("count-section", "a section longer than the module",
			claiming(func(n []byte) []byte { return cat([]byte(header), []byte{secType}, n) })),
	)
	return append(cases, trueCounts()...)
}

// trueCounts are counts that are true, in modules that say a lot.
func trueCounts() []Case {
	attack := func(name, why string, p func() shape) Case {
		return Case{Name: name, Row: RowCounts, Why: why, Modules: one(p), Want: excessive}
	}
	global := cat([]byte{i32, 0}, num(0), op(opEnd))
	return []Case{
		attack("many-types", "each type stays in the engine", func() shape {
			p := shape{}
			for i := range 20_000 {
				p.types = append(p.types, funcType(times(i%50, []byte{i32}), times(i%7, []byte{i64})))
			}
			return p
		}),
		attack("many-functions", "hundreds of bytes for each, to compile nothing", func() shape {
			return shape{funcs: repeat(200_000, function{typeVoid, body(nil)})}
		}),
		attack("many-globals", "200,000 globals", func() shape { return shape{globals: repeat(200_000, global)} }),
		attack("many-exports", "100,000 exports", func() shape {
			p := shape{}
			for i := range 100_000 {
				p.exports = append(p.exports, cat(name("e"+strconv.Itoa(i)), []byte{0, funcHandler}))
			}
			return p
		}),
		attack("many-segments", "300,000 data segments", func() shape {
			return shape{data: repeat(300_000, cat([]byte{0}, num(0), op(opEnd), []byte{0}))}
		}),
		attack("many-elements", "300,000 entries of an element segment", func() shape {
			return shape{
				tables:   [][]byte{{funcref, 0, 1}},
				elements: [][]byte{cat([]byte{1, 0}, many(300_000, u(funcHandler)))},
			}
		}),
		attack("many-locals", "50,000 locals in each of 200 functions: 16 KB that take 100 MB", func() shape {
			return shape{funcs: repeat(200, function{typeVoid, body(locals(50_000, i32))})}
		}),
		attack("many-locals-in-all", "no function has many, but together they have two millions", func() shape {
			return shape{funcs: repeat(1000, function{typeVoid, body(locals(2000, i64))})}
		}),
		{
			Name: "many-imports", Row: RowCounts, Why: "100,000 imports of one function", Want: either(excessive, misfit),
			Modules: bare(module(section(secType, vec(funcType([]byte{i32}, []byte{i64}))), section(secImport, many(100_000, hostFunc("info", 0))))),
		},
	}
}

func repeat[T any](n int, item T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = item
	}
	return out
}
