package meter

import (
	"math"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// most is the largest single charge. With a smaller one there are more charges, which cost time and space. With a
// larger one, a function that returns early is charged for more that it does not execute.
const most = 128

// dead is the debt of code that no path reaches.
const dead = math.MinInt64

// An accounting follows the structured code of one function, instruction by instruction, and computes the charge before
// each of them. Its debt is an upper bound of the instructions executed minus the units charged, on any path from the
// function's entry to this place. The debt never exceeds the bound, and the bound is never above zero: so every
// instruction is paid for before it runs.
//
// The proof is local. An instruction adds one; if that exceeded the bound, most is charged first. The label at the end
// of a block takes the largest debt of all paths to it. A loop's label has the debt of the path from above, which
// becomes the bound within the loop. So a branch back owes no more, and an invariant of the first round holds in all.
//
// Charges are as rare as that allows. The entry pays for instructions outside of loops, and a loop's label for those in
// it but not in inner loops, each up to most. A small function or loop then never charges again.
type accounting struct {
	debt   int64
	bound  int64
	labels []label
}

// A label is a block that is open.
type label struct {
	loop     bool
	bound    int64 // outside of the block
	debt     int64 // the largest on a branch to its end, or at the end of the first half of an if
	elseDebt int64 // at the else, or at the end of an if without one
}

// enter begins a function with so many instructions outside of loops, and returns the charge of its entry.
func (l *accounting) enter(outside int64) (charge int64) {
	charge = min(outside, most)
	l.labels = append(l.labels[:0], label{debt: dead, elseDebt: dead})
	l.debt, l.bound = -charge, 0
	return charge
}

// before counts an instruction, and returns the charge before it.
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

// after follows an instruction that changes the flow of control. It is not ok when the structure is malformed.
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

// loop opens a loop with so many instructions of its own, and returns the charge of its label.
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

// leave follows an instruction after which code is unreachable.
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
