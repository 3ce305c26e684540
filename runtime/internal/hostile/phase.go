package hostile

import "github.com/wasmres/wasmres/abi"

// A Phase is a part of a guest's life in which the host runs it.
type Phase string

// The phases. Those from PhaseDescribe on but PhaseWarm and PhaseSeed are operations.
const (
	PhaseStart       Phase = "start"       // the start section
	PhaseInitialize  Phase = "initialize"  // abi.ExportInitialize
	PhaseDescribe    Phase = "describe"    // while the module is loaded
	PhaseConfigure   Phase = "configure"   // likewise
	PhaseWarm        Phase = "warm"        // abi.ExportWarm
	PhaseSeed        Phase = "seed"        // abi.ExportSeed, before each operation
	PhaseList        Phase = "list"        // and so on: one operation each
	PhaseRead        Phase = "read"        //
	PhaseComplete    Phase = "complete"    //
	PhaseSubscribe   Phase = "subscribe"   //
	PhaseUnsubscribe Phase = "unsubscribe" //
	PhasePoll        Phase = "poll"        //
)

// Phases returns all phases, in the order in which a guest meets them.
func Phases() []Phase {
	return []Phase{
		PhaseStart, PhaseInitialize, PhaseDescribe, PhaseConfigure, PhaseWarm, PhaseSeed, PhaseList, PhaseRead, PhaseComplete,
		PhaseSubscribe, PhaseUnsubscribe, PhasePoll,
	}
}

// Op returns the operation that a phase is, if it is one.
func (p Phase) Op() (op abi.Op, ok bool) {
	for op := range abi.OpEvent {
		if op.String() == string(p) {
			return op, true
		}
	}
	return 0, false
}

// Starts reports whether the phase is over when the module is loaded.
func (p Phase) Starts() bool {
	switch p {
	case PhaseStart, PhaseInitialize, PhaseDescribe, PhaseConfigure, PhaseWarm:
		return true
	}
	return false
}
