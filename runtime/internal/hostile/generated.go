package hostile

import (
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// RowPhases is the row of generated cases, which [Cases] has none of.
const RowPhases Row = "phases"

// phaseTimeout is the limit of a call of a generated case: short, since there are hundreds, and most take all of it.
const phaseTimeout = 25 * time.Millisecond

// An act is an attack that can be made in any phase of a provider which is honest in all others.
type act struct {
	name, why string
	code      []byte
	prepare   func(*actor) // adds what code needs; nil for nothing
	emits     emission
	want      []string // how the phase ends
	rare      bool     // one much like it is made too: this one is for long runs
}

// An emission says what an act emits, and so where it is a breach of the protocol from the first time on.
type emission int

const (
	emitsNothing  emission = iota
	emitsFrames            // which no phase takes that is not an operation
	emitsContents          // which reads and polls alone take
)

// in returns how an act ends in a phase.
func (t *act) in(p Phase) []string {
	_, operation := p.Op()
	refused := t.emits == emitsContents && p != PhaseRead && p != PhasePoll
	switch endless := slices.Contains(t.want, "deadline"); {
	case t.emits == emitsNothing || operation && !refused:
		return t.want
	case endless: // it goes on although it is told that it has failed
		return either([]string{"protocol"}, flooded)
	case operation:
		return []string{"protocol"}
	}
	return answered // nothing was taken
}

// module returns the provider that makes the attack in a phase.
func (t *act) module(p Phase) []byte {
	a := &actor{
		manifest: abi.Manifest{Name: "actor", Ops: 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete | 1<<abi.OpSubscribe |
			1<<abi.OpUnsubscribe | 1<<abi.OpConfigure | 1<<abi.OpPoll},
		acts: map[Phase][]byte{p: t.code},
	}
	if t.prepare != nil {
		t.prepare(a)
	}
	return a.module()
}

// Generated returns a case for each act in each phase, and with rare for more of them. Where a phase is part of
// loading, the case reads from what was loaded, if it was. An act in an operation is followed by an honest read.
func Generated(rare bool) (cases []Case) {
	for _, t := range acts() {
		if t.rare && !rare {
			continue
		}
		for _, p := range Phases() {
			c := Case{
				Name: string(p) + ":" + t.name, Row: RowPhases, Why: t.why, Modules: func() [][]byte { return [][]byte{t.module(p)} },
				Timeout: phaseTimeout, Op: abi.OpRead, URI: "x:o", Want: t.in(p),
			}
			if operation, ok := p.Op(); ok && !p.Starts() {
				c.Op, c.URI, c.After = operation, "x:a", "x:o"
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// PhaseOf returns the phase in which a generated case attacks.
func PhaseOf(c Case) Phase {
	phase, _, _ := strings.Cut(c.Name, ":")
	return Phase(phase)
}

// acts are all attacks that can be made in any phase.
func acts() []act { return slices.Concat(computing(), calling(), emitting()) }

// forever repeats code without end.
func forever(code ...[]byte) []byte {
	return cat([]byte{opLoop, empty}, cat(code...), op(opBr, 0), op(opEnd))
}
