package protocol

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
	"github.com/wasmres/wasmres/runtime/limits"
)

// ProcessName is the zeroth argument of a worker, and its only one.
const ProcessName = "wasmres-worker"

// Descriptors of a worker at its start, beside the standard ones, which are /dev/null.
const (
	FDControl = 3 + iota // messages to it
	FDReports            // messages from it that belong to no call
	FDLink               // the first link: its socket
	FDWindow             // and its window
)

// A StartRequest is the task of a worker, as JSON. The file of the module comes with it; then, if Mapped is true, that of the
// native code, and that of Image.
type StartRequest struct {
	Limits    limits.Limits `json:"limits"`
	Lifecycle abi.Lifecycle `json:"lifecycle"` // the longest that is granted
	Config    string        `json:"config"`
	Services  []abi.Service `json:"services"`               // granted ones
	Compiled  []byte        `json:"compiled"`               // path of the directory with the native code, the only readable one
	Mapped    bool          `json:"mapped,omitempty"`       // the native code is also in a file to be mapped
	Image     ImageFile     `json:"image,omitempty"`        // what comes for the image
	Expose    bool          `json:"exposeErrors,omitempty"` // of guests, to clients
	LogLevel  int           `json:"logLevel"`               // the lowest that the parent logs

	Clock   *guest.Clock `json:"determinism,omitempty"` // nil for the real time and random numbers
	Records bool         `json:"records,omitempty"`     // a guest sleeps in real time, whatever Clock is

	// The parent's findings about this machine, so that the worker need not repeat the tests.
	Reset snapshot.Method `json:"reset"`
	Tests engine.Tests    `json:"tests"`

	Engine engines.Kind `json:"engine,omitempty"` // empty for the default

	Threads    uint64 `json:"threads"`    // bound for the worker; 0 for any number
	Processors int    `json:"processors"` // that the worker's calls should use at once
}

// MaxFiles is how many files come with one message to a worker, at most.
const MaxFiles = 3

// Files returns how many files come with the request.
func (r *StartRequest) Files() int {
	n := 1
	if r.Mapped {
		n++
	}
	if r.Image != NoImage {
		n++
	}
	return n
}

// An ImageFile says which file comes for the image of a worker.
type ImageFile string

// The files for an image.
const (
	NoImage    ImageFile = ""      // none
	NewImage   ImageFile = "new"   // an empty file in memory, for the image
	SavedImage ImageFile = "saved" // a saved image to start from
)

// engineMemory is for a module's code, and for Go's own heap and stacks, in bytes.
const engineMemory = 2 << 30

// engineThreads bounds the threads that wait in the kernel, and those of Go's runtime.
const engineThreads = 32

// Memory returns how much address space a worker may reserve in addition to that at its start, in bytes.
func (r *StartRequest) Memory() uint64 { return r.memory(max(r.Limits.Memory, r.Engine.Reservation())) }

// Data returns how much of it can be written, in bytes; zero for all, if the engine reserves no more than memories may have.
func (r *StartRequest) Data() uint64 {
	if r.Engine.Reservation() <= r.Limits.Memory {
		return 0
	}
	return r.memory(r.Limits.Memory)
}

// memory is for the instances that run and as many that are being reset, for stored sessions, and for the engine.
func (r *StartRequest) memory(each uint64) uint64 {
	instances := 2*r.Limits.Calls + 2
	if r.Lifecycle > abi.LifecycleFresh {
		instances += r.Limits.Sessions
	}
	threads := uint64(min(r.Limits.Calls, MaxLinks)+r.Processors) + engineThreads
	return uint64(instances)*(each+uint64(r.Limits.Stack)+r.Limits.Output) + engineMemory + threads*engines.ThreadStack()
}

// A StartMessage carries a [StartRequest].
type StartMessage []byte

// Kind implements [Message].
func (StartMessage) Kind() Kind { return KindStart }

// Append implements [Message].
func (m StartMessage) Append(b []byte) []byte { return append(b, m...) }

// Check implements [Message].
func (StartMessage) Check() error { return nil }

// A ReadyMessage is a worker's report when it is ready, as JSON. If the manifest is not packed into the module, it
// precedes the report, as a frame.
type ReadyMessage struct {
	guest.Info
	Layers confine.Layers `json:"layers"`
}

// Bounds of a stored ReadyMessage.
const (
	maxReadyText   = 512 // bytes of each text
	maxReadyLayers = 16
	// maxReadyGlobals bounds the globals of an image; one with more is not saved.
	maxReadyGlobals = 1 << 12
)

// Decode fills m from a payload. It cuts texts and lists at their bounds. It leaves out the manifest of an image, of which the worker
// says nothing here.
func (m *ReadyMessage) Decode(p []byte) error {
	if err := json.Unmarshal(p, m); err != nil {
		return malformed(KindReady, err.Error())
	}
	switch m.Reset {
	case guest.ResetInPlace, guest.ResetOrReplace, guest.StartFresh:
	default:
		return malformed(KindReady, fmt.Sprintf("unknown reset mode %.32q", m.Reset))
	}
	m.Why = truncate(m.Why, maxReadyText)
	m.Copied = truncate(m.Copied, maxReadyText)
	m.Unsaved = truncate(m.Unsaved, maxReadyText)
	switch {
	case m.State == nil:
	case len(m.State.Globals) > maxReadyGlobals:
		m.State = nil
	default:
		m.State.Manifest = nil
	}
	m.Layers = slices.Clone(m.Layers[:min(len(m.Layers), maxReadyLayers)])
	for i, l := range m.Layers {
		m.Layers[i] = confine.Layer{Name: truncate(l.Name, maxReadyText), On: l.On, Detail: truncate(l.Detail, maxReadyText)}
	}
	return nil
}
