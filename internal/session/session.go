package session

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
)

// Bounds of a file.
const (
	MaxSize  = 16 << 20 // bytes
	MaxSteps = 10_000
)

// A Session is the content of one file of recorded requests and answers.
type Session struct {
	Comment string         // the text before the first section
	Time    time.Time      // the provider's clock; zero for the start of the year 2000, UTC
	Seed    uint64         // of the provider's random numbers
	Limits  runtime.Limits // of calls; zero fields are those of who runs the session
	Grants  Grants         // of a replay
	Host    []Exchange     // answers for the start of the guest, and for steps that have no answer of their own
	Steps   []*Step
}

// New makes a session without steps, with the current time and a random seed.
func New() *Session {
	return &Session{Time: time.Now().UTC().Truncate(time.Second), Seed: uint64(rand.Uint32())} // short, since people read them
}

// Clock is what the provider is to see.
func (s *Session) Clock() *runtime.Clock {
	now := s.Time
	if now.IsZero() {
		now = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return &runtime.Clock{Time: now, Seed: s.Seed}
}

// A Step is one request with its expected answer.
type Step struct {
	Line    int // in the file, from 1; 0 when the step has no file
	Request Request
	Want    *Answer    // nil before the first recording, and for a crash
	Crash   *Crash     // of the kind Crashed; nil for all others
	Host    []Exchange // questions of the guest during the step
}

// Grants are what a provider may use.
type Grants struct {
	Config       map[string]string // nil or empty for none
	Capabilities []string          // by their names in manifests
	// Services are those that the capabilities grant, by their names in files; nil for all that they have.
	Services []string
}

// The capabilities whose services can be recorded.
const (
	CapabilityFS   = "fs"   // read files
	CapabilityKV   = "kv"   // to keep values
	CapabilityHTTP = "http" // to fetch
	CapabilitySQL  = "sql"  // to query databases
	CapabilityEnv  = "env"  // to read variables of the environment
)

var capabilities = []string{CapabilityFS, CapabilityKV, CapabilityHTTP, CapabilitySQL, CapabilityEnv}

// Has reports whether a capability is granted.
func (g *Grants) Has(capability string) bool { return slices.Contains(g.Capabilities, capability) }

// permits reports whether a service of a granted capability is granted.
func (g *Grants) permits(f *serviceFormat) bool {
	return g.Has(f.capability) && (g.Services == nil || f.service == abi.ServiceConfig || slices.Contains(g.Services, f.name))
}

// maxReads bounds the static resources that a new session reads.
const maxReads = 100

// Begin returns the comment and the steps of a new session, without answers. It lists resources and templates, reads
// each static resource, 100 at most, and completes each variable that the provider completes.
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
