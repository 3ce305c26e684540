package meter_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// nowhere is the balance where no path leads.
const nowhere = math.MinInt32

// A step is an instruction of a metered function, as a node of its flow graph.
type step struct {
	executed int   // instructions of the original it stands for: 0 or 1
	charged  int   // fuel
	to       []int // further steps that may follow
	ends     bool  // the next one does not follow
}

// A paths reads metered functions. It knows the sequences that a meter inserts by the globals they use, which no other
// code can name, and nothing of how they were placed.
type paths struct {
	fuel, depth, dirty uint32
	helpers            uint32 // index of the first helper function
	references         uint32 // index of the table of references
}

// checkPaths walks all paths through all functions, loops included, and reports where more is executed than is paid.
func checkPaths(t *testing.T, name string, binary []byte) {
	t.Helper()
	code, err := meter.Rewrite(binary, meter.Config{MemoryPages: 1 << 16, TableEntries: 1 << 31})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	globals := countGlobals(t, binary)
	p := paths{fuel: globals, depth: globals + 1, dirty: globals + 2}
	functions := p.functions(t, binary, code.Binary)
	for i, f := range functions {
		steps := p.steps(t, f)
		if at, over := unpaid(steps); over {
			t.Fatalf("%s: function %d: a path to instruction %d executes more than it charges", name, i, at)
		}
	}
}

// functions returns the bodies of the metered functions without the helpers.
func (p *paths) functions(t *testing.T, binary, metered []byte) (bodies [][]byte) {
	t.Helper()
	defined := uint32(0)
	for s := range wasm.Sections(binary) {
		if s.ID == wasm.SectionImport {
			p.helpers = s.Reader().U32()
		}
		if s.ID == wasm.SectionFunction {
			defined = s.Reader().U32()
		}
		if s.ID == wasm.SectionTable {
			p.references = s.Reader().U32()
		}
	}
	p.helpers += defined + 1
	for s := range wasm.Sections(metered) {
		if s.ID == wasm.SectionCode {
			r := wasm.NewReader(s.Body)
			r.U32()
			for range defined {
				bodies = append(bodies, r.Bytes(r.U32()))
			}
		}
	}
	return bodies
}

// steps builds the flow graph of a function.
func (p *paths) steps(t *testing.T, body []byte) []step {
	t.Helper()
	type block struct {
		loop    bool
		at      int   // the step of a loop
		pending []int // steps that lead to its end
		opener  int   // an if without an else so far
	}
	all := p.instructions(t, body)
	steps := make([]step, len(all))
	open := []block{{opener: -1}}
	branch := func(from int, label uint32) {
		b := &open[len(open)-1-int(label)]
		if b.loop {
			steps[from].to = append(steps[from].to, b.at+1)
		} else {
			b.pending = append(b.pending, from)
		}
	}
	for i := range all {
		ins := all[i]
		steps[i].executed, steps[i].charged = p.weight(all, i)
		switch ins.Op {
		case wasm.OpBlock:
			open = append(open, block{opener: -1})
		case wasm.OpLoop:
			open = append(open, block{loop: true, at: i, opener: -1})
		case wasm.OpIf:
			open = append(open, block{opener: i})
		case wasm.OpElse:
			b := &open[len(open)-1]
			steps[b.opener].to = append(steps[b.opener].to, i+1)
			b.opener = -1
			b.pending = append(b.pending, i)
			steps[i].ends = true
		case wasm.OpEnd:
			b := open[len(open)-1]
			open = open[:len(open)-1]
			if b.opener >= 0 {
				b.pending = append(b.pending, b.opener)
			}
			for _, from := range b.pending {
				steps[from].to = append(steps[from].to, i+1)
			}
		case wasm.OpBr, wasm.OpBrIf:
			branch(i, ins.Index)
			steps[i].ends = ins.Op == wasm.OpBr
		case wasm.OpBrTable:
			for r := wasm.NewReader(ins.Labels); r.Len() > 0; {
				branch(i, r.U32())
			}
			steps[i].ends = true
		case wasm.OpReturn, wasm.OpUnreachable:
			steps[i].ends = true
		}
	}
	return steps
}

func (p *paths) instructions(t *testing.T, body []byte) (all []wasm.Instruction) {
	t.Helper()
	r := wasm.NewReader(body)
	for range r.U32() {
		r.U32()
		r.Byte()
	}
	var ins wasm.Instruction
	for r.Next(&ins) {
		all = append(all, ins)
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return all
}

// weight says what an instruction stands for. Inserted ones execute nothing of the original.
func (p *paths) weight(all []wasm.Instruction, i int) (executed, charged int) {
	at := func(offset int) wasm.Instruction {
		if i+offset < 0 || i+offset >= len(all) {
			return wasm.Instruction{}
		}
		return all[i+offset]
	}
	own := func(ins wasm.Instruction, globals ...uint32) bool {
		for _, g := range globals {
			if (ins.Op == wasm.OpGlobalGet || ins.Op == wasm.OpGlobalSet) && ins.Index == g {
				return true
			}
		}
		return false
	}
	ins := all[i]
	if first, ok := p.cached(all, i); ok {
		return 0, map[bool]int{true: int(int64(all[first+1].Value))}[i == first]
	}
	switch {
	case own(at(-2), p.depth) && at(-1).Op == wasm.OpLocalTee: // get, tee, const, sub, set
		return 0, 0
	case own(ins, p.fuel) && ins.Op == wasm.OpGlobalSet: // get, const, sub, set
		return 0, int(int64(at(-2).Value))
	case own(ins, p.fuel, p.depth, p.dirty):
		return 0, 0
	case own(at(-1), p.fuel, p.depth) && at(-1).Op == wasm.OpGlobalGet: // what follows a get: const, or extend
		return 0, 0
	case own(at(1), p.fuel, p.depth, p.dirty) && at(1).Op == wasm.OpGlobalSet: // what precedes a set: sub, add, const
		return 0, 0
	case ins.Op == wasm.OpCall && ins.Index >= p.helpers: // those that charge only stand before the operation
		next := at(1).Op
		only := next == wasm.OpMemoryInit || next == wasm.OpTableInit || next == wasm.OpTableCopy ||
			next == wasm.OpTableFill || next == wasm.OpTableGrow
		return map[bool]int{false: 1}[only || p.inCheck(all, i)], 0
	case at(1).Op == wasm.OpTableGet && at(1).Index == p.references: // the constant before what stands for ref.func
		return 0, 0
	case p.inCheck(all, i), p.wraps(all, i):
		return 0, 0
	}
	return 1, 0
}

// cached returns where a sequence begins that an instruction belongs to: get, const, sub, tee, set fuel, get, const,
// lt, if, call, get fuel, set, end.
func (p *paths) cached(all []wasm.Instruction, i int) (first int, ok bool) {
	const before, size = 4, 13
	for k := max(before, i-size+before+1); k <= i+before && k < len(all); k++ {
		if all[k].Op == wasm.OpGlobalSet && all[k].Index == p.fuel && all[k-1].Op == wasm.OpLocalTee {
			return k - before, true
		}
	}
	return 0, false
}

// inCheck reports whether an instruction belongs to: fuel, (depth, extend, or,) const, lt, if, call, end.
func (p *paths) inCheck(all []wasm.Instruction, i int) bool {
	for back := 1; back <= 8 && back <= i; back++ {
		first := all[i-back]
		if first.Op != wasm.OpGlobalGet || first.Index != p.fuel || i-back+2 >= len(all) {
			continue
		}
		size := 6
		if next := all[i-back+1]; next.Op == wasm.OpGlobalGet {
			size = 9
		} else if all[i-back+2].Op != wasm.OpI64LtS {
			continue // what is spent
		}
		if back < size {
			return true
		}
	}
	return false
}

// wraps reports whether an instruction is the block around a body, or its end.
func (p *paths) wraps(all []wasm.Instruction, i int) bool {
	deep := len(all) > 4 && all[4].Op == wasm.OpGlobalGet && all[4].Index == p.depth
	return deep && (i == 18 || i == len(all)-1)
}

// unpaid returns where a path leads that executes more than it charges, if there is one.
func unpaid(steps []step) (at int, over bool) {
	into := make([]int, len(steps)+1)
	for i := range into {
		into[i] = nowhere
	}
	into[0] = 0
	for changed := true; changed; { // ends: balances only rise, and not beyond 0
		changed = false
		raise := func(i, v int) {
			if v > into[i] {
				into[i], changed = v, true
			}
		}
		for i, s := range steps {
			if into[i] == nowhere {
				continue
			}
			out := into[i] + s.executed - s.charged
			if out > 0 {
				return i, true
			}
			for _, next := range s.to {
				raise(next, out)
			}
			if !s.ends {
				raise(i+1, out)
			}
		}
	}
	return 0, false
}

func TestEveryPathIsPaid(t *testing.T) {
	for _, w := range workloads(t) {
		checkPaths(t, w.name, w.binary)
	}
	for i, binary := range corpus(t) {
		checkPaths(t, fmt.Sprintf("module %d of the corpus", i), binary)
	}
}
