package instance

import "github.com/wasmres/wasmres/runtime/internal/engine"

// What a host function takes of the guest's fuel for each access to its memory. A unit is paid for as many bytes as in the
// guest's own bulk operations: a look at four bytes never takes longer than filling them.
const (
	accessUnits  = 16 // flat
	bytesPerUnit = 4
)

// What a message of the guest takes beside that, which the host decodes, checks and passes on: a microsecond and a few
// nanoseconds for each byte.
const (
	messageUnits = 1000
	unitsPerByte = 4
)

// A paidMemory is the memory of a guest as host functions see it. The guest pays, in fuel, for the bytes that a host
// function looks at or writes. When the slice of fuel is used up the guest ticks, within the host function, so that the
// clock is looked at between any two accesses that are large together.
type paidMemory struct {
	instance *Instance
	memory   engine.Memory
}

// Read implements [engine.Memory].
func (m *paidMemory) Read(off, n uint32) ([]byte, bool) {
	p, ok := m.memory.Read(off, n)
	m.instance.pay(len(p))
	return p, ok
}

// Write implements [engine.Memory].
func (m *paidMemory) Write(off uint32, p []byte) bool {
	m.instance.pay(len(p))
	return m.memory.Write(off, p)
}

// pay takes the fuel for one access to n bytes.
func (s *Instance) pay(n int) { s.takeFuel(accessUnits + int64(n/bytesPerUnit)) }

// payMessage takes the fuel for a message of n bytes, beside that for the access to it.
func (s *Instance) payMessage(n int) { s.takeFuel(messageUnits + unitsPerByte*int64(n)) }

// takeFuel takes fuel, and stops the guest if it must end.
func (s *Instance) takeFuel(units int64) {
	left := int64(s.fuel.Get()) - units
	s.fuel.Set(uint64(left))
	if left < 0 {
		s.tick()
	}
}
