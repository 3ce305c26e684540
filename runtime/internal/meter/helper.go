package meter

import "github.com/wasmres/wasmres/runtime/wasm"

// A helper is a function appended to the module. It stands for an operation whose cost depends on its operands.
//
//	memory.copy, memory.fill      16 units and one for 4 bytes, in chunks of 64 KiB of which each is paid beforehand
//	memory.init, table.*          16 units and one for each byte or entry
//	memory.grow                   256 units, and for each page it grew what filling it would cost
//
// Measured, four bytes take 0.1 ns in caches and up to 0.7 ns beyond them; the first touch of a page, for which growing
// pays beforehand, takes some 1.3 ns for four bytes.
type helper uint8

const (
	helperCopy   helper = iota // (to, from, length) -> ()
	helperFill                 // (to, byte, length) -> ()
	helperGrow                 // (pages) -> (pages)
	helperCharge               // (length) -> (length)
	helperPause                // () -> (): fuel or depth is below zero
	helperKinds
)

const (
	chunk     = 64 << 10 // bytes copied or filled without a check
	bulkUnits = 16
	growUnits = 256
	unitBits  = 2  // the binary logarithm of the bytes for a unit
	pageBits  = 16 // the binary logarithm of the bytes of a page
)

// index returns the index of a helper, and marks it as used.
func (w *writer) index(h helper) uint32 {
	if w.helpers[h] == 0 {
		w.helpers[h] = w.imported + 1 + uint32(len(w.functions)+len(w.kinds))
		w.kinds = append(w.kinds, h)
	}
	return w.helpers[h]
}

func (h helper) functionType() functionType {
	switch h {
	case helperPause:
		return functionType{}
	case helperCopy, helperFill:
		return functionType{params: "\x7f\x7f\x7f"}
	}
	return functionType{params: "\x7f", results: "\x7f"}
}

// code returns the helper's locals and instructions.
func (h helper) code(w *writer) []byte {
	a := &assembler{writer: w, out: []byte{0}}
	switch h {
	case helperCopy:
		a.copy()
	case helperFill:
		a.fill()
	case helperGrow:
		a.grow()
	case helperCharge:
		a.charge(0, 0, bulkUnits)
		a.get(0)
	case helperPause:
		a.callTick()
	}
	a.op(wasm.OpEnd)
	return a.out
}
