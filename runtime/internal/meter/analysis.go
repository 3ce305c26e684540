package meter

import "github.com/wasmres/wasmres/runtime/wasm"

// An analysis is what the meter needs to know of a function before it writes the first instruction.
type analysis struct {
	own   []int64 // instructions outside of loops, then those of each loop in order of appearance, without loops within
	noisy []bool  // whether each of these has calls, including calls of helpers
	calls bool    // it calls other functions, helpers aside
	quiet bool    // there is a loop that is not noisy

	open []int // for each open block, the index in own of its instructions
}

var errBlocks = malformed("blocks and ends do not match")

// take analyses a function's instructions.
func (s *analysis) take(r wasm.Reader) error {
	*s = analysis{own: append(s.own[:0], 0), noisy: append(s.noisy[:0], false), open: append(s.open[:0], 0)}
	var ins wasm.Instruction
	for r.Next(&ins) {
		if len(s.open) == 0 {
			return errBlocks
		}
		at := s.open[len(s.open)-1]
		s.own[at]++
		switch op := ins.Op; {
		case op == wasm.OpBlock || op == wasm.OpIf:
			s.open = append(s.open, at)
		case op == wasm.OpLoop:
			s.open = append(s.open, len(s.own))
			s.own, s.noisy = append(s.own, 0), append(s.noisy, false)
		case op == wasm.OpEnd:
			s.close(at)
		case op == wasm.OpCall || op == wasm.OpCallIndirect:
			s.calls, s.noisy[at] = true, true
		case op == wasm.OpMemoryGrow || wasm.OpMemoryInit <= op && op <= wasm.OpTableFill:
			s.noisy[at] = true
		}
	}
	if r.Err() == nil && len(s.open) > 0 {
		return errBlocks
	}
	return r.Err()
}

// close ends the innermost block. A block around a noisy loop is noisy.
func (s *analysis) close(at int) {
	s.open = s.open[:len(s.open)-1]
	if len(s.open) == 0 {
		return
	}
	if around := s.open[len(s.open)-1]; around != at {
		s.quiet = s.quiet || !s.noisy[at]
		s.noisy[around] = s.noisy[around] || s.noisy[at]
	}
}
