package instance

import "github.com/wasmres/wasmres/runtime/internal/engine"

// Fuel that a host function charges for each access to guest memory. A unit covers as many bytes as in the guest's own
// bulk operations: reading four bytes never takes longer than filling them.
const (
	accessUnits  = 16 // flat
	bytesPerUnit = 4
)

// Fuel for a message of the guest in addition to that. The host decodes, checks and passes it on: a microsecond and a
// few nanoseconds for each byte.
const (
	messageUnits = 1000
	unitsPerByte = 4
)

// A paidMemory is the memory of a guest for host functions. It charges fuel for the bytes that a host function reads or
// writes. When the slice of fuel is used up, the guest ticks within the host function: so the clock is read between any
// two large accesses.
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

// pay charges the fuel for one access to n bytes.
func (s *Instance) pay(n int) { s.takeFuel(accessUnits + int64(n/bytesPerUnit)) }

// payMessage charges the fuel for a message of n bytes, in addition to that of the access.
func (s *Instance) payMessage(n int) { s.takeFuel(messageUnits + unitsPerByte*int64(n)) }

// takeFuel charges fuel, and stops the guest if it must end.
func (s *Instance) takeFuel(units int64) {
	left := int64(s.fuel.Get()) - units
	s.fuel.Set(uint64(left))
	if left < 0 {
		s.tick()
	}
}
