package meter

import "github.com/wasmres/wasmres/runtime/wasm"

// An assembler writes a helper function. It addresses locals by number, the parameters first.
type assembler struct {
	*writer
	out []byte
}

func (a *assembler) op(ops ...wasm.Opcode) {
	for _, op := range ops {
		if op > 0xff {
			a.out = append(a.out, byte(op>>8))
		}
		a.out = append(a.out, byte(op))
	}
}

func (a *assembler) get(local uint32) { a.out = appendIndexed(a.out, wasm.OpLocalGet, local) }
func (a *assembler) set(local uint32) { a.out = appendIndexed(a.out, wasm.OpLocalSet, local) }

func (a *assembler) i32(v int32) { a.out = wasm.AppendS32(append(a.out, byte(wasm.OpI32Const)), v) }
func (a *assembler) i64(v int64) { a.out = wasm.AppendS64(append(a.out, byte(wasm.OpI64Const)), v) }

// begin opens a block without parameters and results.
func (a *assembler) begin(op wasm.Opcode) {
	a.out = wasm.AppendS64(append(a.out, byte(op)), int64(wasm.BlockEmpty))
}

// charge pays flat units plus the value of a local shifted right by so many bits, or left by -bits.
func (a *assembler) charge(local uint32, bits int64, flat int64) {
	a.out = appendIndexed(a.out, wasm.OpGlobalGet, a.fuel())
	a.get(local)
	a.op(wasm.OpI64ExtendI32U)
	a.i64(max(bits, -bits))
	if bits < 0 {
		a.op(wasm.OpI64Shl)
	} else {
		a.op(wasm.OpI64ShrU)
	}
	a.i64(flat)
	a.op(wasm.OpI64Add, wasm.OpI64Sub)
	a.out = appendIndexed(a.out, wasm.OpGlobalSet, a.fuel())
	a.out = a.appendCheck(a.out)
}

// Parameters of copy and fill.
const (
	to     = 0
	from   = 1 // or the byte
	length = 2
)

// fill is
//
//	if length > chunk {
//		if to+length > size { memory.fill(to, byte, length) } // traps before it writes
//		do { charge; memory.fill(to, byte, chunk); to += chunk; length -= chunk } while length > chunk
//	}
//	charge; memory.fill(to, byte, length)
func (a *assembler) fill() {
	a.long()
	a.outOfBounds(to)
	a.trapIf(wasm.OpMemoryFill)
	a.begin(wasm.OpLoop)
	a.chunkOf(wasm.OpMemoryFill, false)
	a.advance(to)
	a.again()
	a.op(wasm.OpEnd)
	a.rest(wasm.OpMemoryFill)
}

// copy is like fill. It goes upward when to is below from, and otherwise downward: the result is that of one copy.
func (a *assembler) copy() {
	a.long()
	a.outOfBounds(to)
	a.outOfBounds(from)
	a.op(wasm.OpI32Or)
	a.trapIf(wasm.OpMemoryCopy)
	a.get(to)
	a.get(from)
	a.op(wasm.OpI32LeU)
	a.begin(wasm.OpIf)
	a.begin(wasm.OpLoop)
	a.chunkOf(wasm.OpMemoryCopy, false)
	a.advance(to)
	a.advance(from)
	a.again()
	a.op(wasm.OpElse)
	a.begin(wasm.OpLoop)
	a.chunkOf(wasm.OpMemoryCopy, true)
	a.again()
	a.op(wasm.OpEnd, wasm.OpEnd)
	a.rest(wasm.OpMemoryCopy)
}

// long begins the branch for ranges of more than a chunk.
func (a *assembler) long() {
	a.get(length)
	a.i32(chunk)
	a.op(wasm.OpI32GtU)
	a.begin(wasm.OpIf)
}

// outOfBounds pushes whether a range ends beyond the memory.
func (a *assembler) outOfBounds(start uint32) {
	a.get(start)
	a.op(wasm.OpI64ExtendI32U)
	a.get(length)
	a.op(wasm.OpI64ExtendI32U, wasm.OpI64Add, wasm.OpMemorySize)
	a.out = append(a.out, 0)
	a.op(wasm.OpI64ExtendI32U)
	a.i64(pageBits)
	a.op(wasm.OpI64Shl, wasm.OpI64GtU)
}

// trapIf does the whole operation if it is out of bounds, so that the trap is the operation's own.
func (a *assembler) trapIf(bulk wasm.Opcode) {
	a.begin(wasm.OpIf)
	a.get(to)
	a.get(from)
	a.get(length)
	a.bulk(bulk)
	a.op(wasm.OpEnd)
}

// bulk writes memory.copy or memory.fill with its memories.
func (a *assembler) bulk(op wasm.Opcode) {
	a.op(op)
	if a.out = append(a.out, 0); op == wasm.OpMemoryCopy {
		a.out = append(a.out, 0)
	}
}

// chunkOf pays for a chunk and processes it: the first or the last one of the range. It subtracts the chunk from
// length.
func (a *assembler) chunkOf(bulk wasm.Opcode, last bool) {
	a.out = a.appendCharge(a.out, chunk>>unitBits+bulkUnits)
	a.get(length)
	a.i32(chunk)
	a.op(wasm.OpI32Sub)
	a.set(length)
	for _, start := range []uint32{to, from} {
		a.get(start)
		if last {
			a.get(length)
			a.op(wasm.OpI32Add)
		}
	}
	a.i32(chunk)
	a.bulk(bulk)
}

// advance moves a start behind a chunk.
func (a *assembler) advance(start uint32) {
	a.get(start)
	a.i32(chunk)
	a.op(wasm.OpI32Add)
	a.set(start)
}

// again ends the loop over chunks.
func (a *assembler) again() {
	a.get(length)
	a.i32(chunk)
	a.op(wasm.OpI32GtU)
	a.out = appendIndexed(a.out, wasm.OpBrIf, 0)
	a.op(wasm.OpEnd)
}

// rest pays for the remaining range and processes it.
func (a *assembler) rest(bulk wasm.Opcode) {
	a.charge(length, unitBits, bulkUnits)
	a.get(to)
	a.get(from)
	a.get(length)
	a.bulk(bulk)
}

// grow is
//
//	charge; size = memory.grow(pages)
//	if size == -1 { return size }
//	charge pages; return size
func (a *assembler) grow() {
	const pages, size = 0, 1
	a.out = append(a.out[:0], 1, 1, wasm.I32)
	a.out = a.appendCharge(a.out, growUnits)
	a.get(pages)
	a.op(wasm.OpMemoryGrow)
	a.out = append(a.out, 0)
	a.set(size)
	a.get(size)
	a.i32(-1)
	a.op(wasm.OpI32Ne)
	a.begin(wasm.OpIf)
	a.charge(pages, unitBits-pageBits, 0)
	a.op(wasm.OpEnd)
	a.get(size)
}

// callTick is
//
//	if depth < 0 { unreachable }
//	if fuel < 0 { tick() }
func (a *assembler) callTick() {
	a.out = appendIndexed(a.out, wasm.OpGlobalGet, a.depth())
	a.i32(0)
	a.op(wasm.OpI32LtS)
	a.begin(wasm.OpIf)
	a.op(wasm.OpUnreachable, wasm.OpEnd)
	a.out = a.appendCheck(a.out)
}
