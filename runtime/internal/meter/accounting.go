package meter

import (
	"math"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// most is what is charged at once at most. A smaller one makes more charges, which costs time and space; a larger one
// charges more for what is then left early, such as a function that returns at once.
const most = 128

// dead is the debt where no path leads.
const dead = math.MinInt64

// An accounting follows the structured code of one function, instruction by instruction, and says what to charge before each
// of them. Its debt is at least what any path from the function's entry to here has executed beyond what it charged. It
// never exceeds the bound, which is never above zero: all that is executed has been paid before.
//
// The proof is local. An instruction adds one; if that led beyond the bound, most is charged first. A label ahead takes
// the largest debt of all that lead to it. A loop's label assumes the debt that leads to it from above, and that debt is
// the bound within the loop: so whatever branches back owes no more, and what holds in the first round holds in all.
//
// How soon to charge again follows from that. To charge seldom, the entry pays for what is outside of loops, a loop's
// label for what is in it but not in loops within, each up to most; a small function or loop then never charges again.
type accounting struct {
	debt   int64
	bound  int64
	labels []label
}

// A label is a block that is open.
type label struct {
	loop     bool
	bound    int64 // outside of the block
	debt     int64 // the largest that leads to its end by a branch, or from the first half of an if
	elseDebt int64 // where an else begins, or an if without one ends
}

// enter begins a function with so many instructions outside of loops and gives what its entry charges.
func (l *accounting) enter(outside int64) (charge int64) {
	charge = min(outside, most)
	l.labels = append(l.labels[:0], label{debt: dead, elseDebt: dead})
	l.debt, l.bound = -charge, 0
	return charge
}

// before counts an instruction and gives what to charge before it is executed.
func (l *accounting) before() (charge int64) {
	if l.debt == dead {
		return 0
	}
	if l.debt+1 > l.bound {
		charge = most
	}
	l.debt += 1 - charge
	return charge
}

// after follows an instruction that changes the flow of control. It is not ok when the structure is broken.
func (l *accounting) after(ins *wasm.Instruction) (ok bool) {
	switch ins.Op {
	case wasm.OpBlock:
		l.open(label{elseDebt: dead})
	case wasm.OpIf:
		l.open(label{elseDebt: l.debt})
	case wasm.OpElse:
		return l.startElse()
	case wasm.OpEnd:
		return l.close()
	case wasm.OpBrIf:
		return l.branch(ins.Index)
	case wasm.OpBr, wasm.OpBrTable, wasm.OpReturn, wasm.OpUnreachable:
		return l.leave(ins)
	}
	return true
}

// loop opens a loop with so many instructions of its own and gives what its label charges.
func (l *accounting) loop(own int64) (charge int64) {
	l.open(label{loop: true, elseDebt: dead})
	if l.debt == dead {
		return 0
	}
	charge = min(own, most)
	l.bound = l.debt
	l.debt -= charge
	return charge
}

func (l *accounting) open(b label) {
	b.debt, b.bound = dead, l.bound
	l.labels = append(l.labels, b)
}

// startElse follows an else.
func (l *accounting) startElse() (ok bool) {
	b := l.label(0)
	if b == nil {
		return false
	}
	b.debt = max(b.debt, l.debt)
	l.debt, b.elseDebt = b.elseDebt, dead
	return true
}

func (l *accounting) close() (ok bool) {
	b := l.label(0)
	if b == nil {
		return false
	}
	l.debt, l.bound = max(l.debt, b.debt, b.elseDebt), b.bound
	l.labels = l.labels[:len(l.labels)-1]
	return true
}

// leave follows an instruction behind which no path leads on.
func (l *accounting) leave(ins *wasm.Instruction) (ok bool) {
	ok = true
	switch ins.Op {
	case wasm.OpBr:
		ok = l.branch(ins.Index)
	case wasm.OpBrTable:
		for r := wasm.NewReader(ins.Labels); ok && r.Len() > 0; {
			ok = l.branch(r.U32())
		}
	}
	l.debt = dead
	return ok
}

// branch follows a branch to a label.
func (l *accounting) branch(target uint32) (ok bool) {
	b := l.label(target)
	if b == nil {
		return false
	}
	if !b.loop {
		b.debt = max(b.debt, l.debt)
	}
	return true
}

// label returns an open block counted from the innermost, or nil.
func (l *accounting) label(i uint32) *label {
	if uint64(i) >= uint64(len(l.labels)) {
		return nil
	}
	return &l.labels[len(l.labels)-1-int(i)]
}
