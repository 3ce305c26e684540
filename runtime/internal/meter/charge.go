package meter

import "github.com/wasmres/wasmres/runtime/wasm"

// appendCharge appends: fuel -= units; if fuel < 0 { tick() }.
func (s *source) appendCharge(out []byte, units int64) []byte {
	return s.appendCheck(s.appendSpend(out, units))
}

// appendSpend appends: fuel -= units.
func (s *source) appendSpend(out []byte, units int64) []byte {
	out = appendIndexed(out, wasm.OpGlobalGet, s.fuel())
	out = wasm.AppendS64(append(out, byte(wasm.OpI64Const)), units)
	return appendIndexed(append(out, byte(wasm.OpI64Sub)), wasm.OpGlobalSet, s.fuel())
}

// appendCheck appends: if fuel < 0 { tick() }. Engines that keep globals in registers along straight code, as wazero
// does, do not load fuel again here.
func (s *source) appendCheck(out []byte) []byte {
	return appendCallBelow(appendIndexed(out, wasm.OpGlobalGet, s.fuel()), s.tick())
}

// appendCallBelow appends: if number < 0 { function() }, where number is what was pushed last.
func appendCallBelow(out []byte, function uint32) []byte {
	out = append(out, byte(wasm.OpI64Const), 0, byte(wasm.OpI64LtS))
	out = wasm.AppendS64(append(out, byte(wasm.OpIf)), int64(wasm.BlockEmpty))
	return append(appendIndexed(out, wasm.OpCall, function), byte(wasm.OpEnd))
}

// appendCached appends: cache -= units; fuel = cache; if cache < 0 { tick(); cache = fuel }. The loop never loads a
// value that it has just stored, which makes a short loop twice as fast.
func (s *source) appendCached(out []byte, cache uint32, units int64) []byte {
	out = appendIndexed(out, wasm.OpLocalGet, cache)
	out = wasm.AppendS64(append(out, byte(wasm.OpI64Const)), units)
	out = appendIndexed(append(out, byte(wasm.OpI64Sub)), wasm.OpLocalTee, cache)
	out = appendIndexed(out, wasm.OpGlobalSet, s.fuel())
	out = appendIndexed(out, wasm.OpLocalGet, cache)
	out = appendCallBelow(out, s.tick())
	return append(s.appendCache(out[:len(out)-1], cache), byte(wasm.OpEnd)) // within the if
}

// appendCache appends: cache = fuel.
func (s *source) appendCache(out []byte, cache uint32) []byte {
	return appendIndexed(appendIndexed(out, wasm.OpGlobalGet, s.fuel()), wasm.OpLocalSet, cache)
}
