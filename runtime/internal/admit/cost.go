package admit

import (
	"math"
	"math/bits"
)

// Costs of compiling in nanoseconds, as measured with wazero 1.12. Its time is quadratic in the basic blocks of a
// function. It makes a value, of about 1 KB, for each local that may have changed where paths join.
const (
	costFunction  = 4_000
	costOp        = 300 // and for each operand that is moved
	costBlocks    = 10  // times the square
	costLoopLocal = 15_000
	costJoin      = 3_000
)

// cost estimates how long compiling a function takes, in nanoseconds.
func (u *usage) cost(locals uint64) uint64 {
	cost := sum(costFunction, product(costOp, u.instructions+u.moved))
	cost = sum(cost, product(costBlocks, product(u.blocks, u.blocks)))
	cost = sum(cost, product(costJoin, u.joins))
	return sum(cost, product(costLoopLocal, product(u.loops, locals)))
}

// product multiplies, and returns the largest number on overflow.
func product(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return math.MaxUint64
}

// sum adds, and returns the largest number on overflow.
func sum(a, b uint64) uint64 {
	if s, carry := bits.Add64(a, b, 0); carry == 0 {
		return s
	}
	return math.MaxUint64
}
