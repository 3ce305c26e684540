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

// A Session is a file of recorded requests and answers.
type Session struct {
	Comment string     // for people: all that stands before the first section
	Time    time.Time  // which it is for the provider; zero for the start of the year 2000, UTC
	Seed    uint64     // of the random numbers the provider gets
	Grants  Grants     // what the provider is granted in a replay
	Host    []Exchange // what is asked while the guest starts, or in steps that have no answer of their own
	Steps   []*Step
}

// New makes a session without steps, at the time it is now, and with a seed of its own.
func New() *Session {
	return &Session{Time: time.Now().UTC().Truncate(time.Second), Seed: uint64(rand.Uint32())} // which people can read
}

// Clock is what the provider is to see.
func (s *Session) Clock() *runtime.Clock {
	now := s.Time
	if now.IsZero() {
		now = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return &runtime.Clock{Time: now, Seed: s.Seed}
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
	Capabilities []string          // by their names in manifests
}

// The capabilities whose services can be recorded.
const (
	CapabilityFS   = "fs"   // to read files
	CapabilityKV   = "kv"   // to keep values
	CapabilityHTTP = "http" // to fetch
	CapabilitySQL  = "sql"  // to query databases
	CapabilityEnv  = "env"  // to read variables of the environment
)

var capabilities = []string{CapabilityFS, CapabilityKV, CapabilityHTTP, CapabilitySQL, CapabilityEnv}

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
