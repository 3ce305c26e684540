package admit

import (
	"sort"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// near is how many parameters and locals have their types in an array; the types of others are found by search.
const near = 256

// tracked is how many locals are distinguished when the used ones are counted.
const tracked = 4_096

// locals has the parameters and locals of one function. It expands declarations no further than the array.
type locals struct {
	types   [near]wasm.ValueType
	groups  []group
	count   uint64 // of parameters and locals
	vectors uint64 // of those, the v128

	marks [tracked]uint32 // the number of the function that used a local last
	mark  uint32          // the number of this function
	sets  [tracked]uint32 // when a local was set last, by the clock of the body
	inUse uint64
}

// A group is locals of one type that were declared together, the first of them numbered after the group before.
type group struct {
	end uint64 // the index after its last
	typ wasm.ValueType
}

// read reads the declarations of locals.
func (l *locals) read(c *checker, params []wasm.ValueType) bool {
	l.groups, l.count, l.vectors, l.inUse = l.groups[:0], 0, 0, 0
	l.mark++
	for _, t := range params {
		l.add(1, t)
	}
	n := c.r.U32()
	if !c.ok() || !c.checkLimit(boundLocals, uint64(n)) {
		return false
	}
	for range n {
		count, t := c.r.U32(), c.r.Byte()
		if !c.ok() {
			return false
		}
		if !wasm.IsValueType(t) {
			c.invalid("unknown value type %#x", t)
			return false
		}
		l.add(uint64(count), t)
		if !c.checkLimit(boundLocals, l.count-uint64(len(params))) {
			return false
		}
	}
	c.totalLocals += l.count - uint64(len(params))
	return c.checkLimit(boundTotalLocals, c.totalLocals)
}

func (l *locals) add(n uint64, t wasm.ValueType) {
	for i := l.count; i < min(l.count+n, near); i++ {
		l.types[i] = t
	}
	l.count += n
	if t == wasm.V128 {
		l.vectors += n
	}
	if n == 0 {
		return
	}
	l.groups = append(l.groups, group{end: l.count, typ: t})
}

// use returns the type of a local or parameter, and counts it as used; 0 when it does not exist.
func (l *locals) use(index uint32) wasm.ValueType {
	if uint64(index) >= l.count {
		return 0
	}
	if index >= tracked {
		l.inUse++
	} else if l.marks[index] != l.mark {
		l.marks[index] = l.mark
		l.inUse++
	}
	if index < near {
		return l.types[index]
	}
	at := sort.Search(len(l.groups), func(i int) bool { return uint64(index) < l.groups[i].end })
	return l.groups[at].typ
}

// used returns how many locals and parameters the function has used. One beyond tracked counts each time it is used.
func (l *locals) used() uint64 { return l.inUse }
