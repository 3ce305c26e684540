package worker

import (
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/confine"
	"github.com/wasmres/wasmres/internal/worker/wire"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/engine/wazero"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// name is the zeroth argument of a worker, which is all the arguments it has.
const name = "wasmres-worker"

// The descriptors a worker is born with, beside the standard ones, which lead nowhere.
const (
	fdControl = 3 + iota // messages to it
	fdReports            // messages from it that belong to no call
	fdLink               // the first link: its socket
	fdWindow             // and its window
)

// orders are what a worker is told, as JSON, with the prepared module. It starts with nothing else.
type orders struct {
	Limits    runtime.Limits `json:"limits"`
	Lifecycle abi.Lifecycle  `json:"lifecycle"`
	Config    string         `json:"config"`
	Services  []abi.Service  `json:"services"`
	Compiled  []byte         `json:"compiled"` // the path of the folder with its native code, which is all it may read
	LogLevel  int            `json:"logLevel"`

	Determinism *runtime.Determinism `json:"determinism,omitempty"` // nil for the real time and random numbers

	// What the parent has found out about this machine, which need not be found out again.
	Reset snapshot.Method `json:"reset"`
	Tests wazero.Tests    `json:"tests"`

	Threads    uint64 `json:"threads"`    // it may have; 0 for any number
	Processors int    `json:"processors"` // it may use at once
}

// An opening is the message that carries the orders. The prepared module goes along.
type opening []byte

// Kind implements [wire.Message].
func (opening) Kind() wire.Kind { return wire.KindStart }

// Append implements [wire.Message].
func (o opening) Append(b []byte) []byte { return append(b, o...) }

// Check implements [wire.Message].
func (opening) Check() error { return nil }

// news is what a worker says of itself when it is ready, as JSON. Its manifest goes before it, as a frame, when it was
// not packed in.
type news struct {
	Lane   runtime.Lane   `json:"lane"`
	Why    string         `json:"why"`
	Start  runtime.Start  `json:"start"`
	Layers confine.Layers `json:"layers"`
}

// What a parent believes of news at most.
const (
	most       = 512 // bytes of each text
	mostLayers = 16
)

// clip makes news bearable.
func (n *news) clip() {
	n.Why = clip(n.Why)
	n.Layers = slices.Clone(n.Layers[:min(len(n.Layers), mostLayers)])
	for i, l := range n.Layers {
		n.Layers[i] = confine.Layer{Name: clip(l.Name), On: l.On, Detail: clip(l.Detail)}
	}
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), most)], "") }

// memory is how much address space a worker may take beyond what it begins with: for as many instances as may be at
// work and as many that are being put back, for the sessions that are kept, and for the engine.
func (o *orders) memory() uint64 {
	instances := 2*o.Limits.Calls + 2
	if o.Lifecycle > abi.LifecycleFresh {
		instances += o.Limits.Sessions
	}
	return uint64(instances)*(o.Limits.Memory+uint64(o.Limits.Stack)+o.Limits.Output) + engineMemory
}

const engineMemory = 2 << 30 // bytes: a module's code, and Go's own heap and stacks
