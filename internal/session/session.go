package session

import (
	"slices"

	"github.com/wasmres/wasmres/abi"
)

// Bounds of a file.
const (
	MaxSize  = 16 << 20 // bytes
	MaxSteps = 10_000
)

// A Session is a file of recorded requests and answers.
type Session struct {
	Comment string     // for people: all that stands before the first section
	Grants  Grants     // what the provider is granted in a replay
	Host    []Exchange // what is asked while the guest starts, or in steps that have no answer of their own
	Steps   []*Step
}

// A Step is one request with the answer it is to get.
type Step struct {
	Line    int // of the file, from 1; 0 when the step is of no file
	Request Request
	Want    *Answer    // nil when none is recorded yet
	Host    []Exchange // what the guest asks the host meanwhile
}

// Grants are what a provider may use.
type Grants struct {
	Config       map[string]string // nil or empty for none
	Capabilities []string          // by their names in manifests: CapabilityFS
}

// CapabilityFS is the power to read files.
const CapabilityFS = "fs"

// Has reports whether a capability is granted.
func (g *Grants) Has(capability string) bool { return slices.Contains(g.Capabilities, capability) }

// maxReads is how many static resources a new session reads.
const maxReads = 100

// Begin gives the comment and the steps of a new session, without answers: the list, the templates, a read of each
// static resource, 100 at most, and a completion of each variable that can be completed.
func Begin(m *abi.Manifest) (comment string, steps []*Step) {
	add := func(r Request) { steps = append(steps, &Step{Request: r}) }
	add(Request{Kind: List})
	if len(m.Templates) > 0 {
		add(Request{Kind: Templates})
	}
	for i := range m.Resources[:min(len(m.Resources), maxReads)] {
		add(Request{Kind: Read, URI: abi.NormalURI(m.Resources[i].URI)})
	}
	for i := range m.Templates {
		for _, variable := range m.Templates[i].Completes {
			add(Request{Kind: Complete, URI: abi.NormalURI(m.Templates[i].URITemplate), Variable: variable})
		}
	}
	return "What clients get of " + m.Name + ".\n\n", steps[:min(len(steps), MaxSteps)]
}
