package tenant

import (
	"time"

	"github.com/wasmres/wasmres/internal/policy"
)

// A Version is one module that was pushed for a provider, with the policy under which it may run. Versions of a provider are
// numbered from 1 in the order of their pushes; a number is never given again.
type Version struct {
	Tenant, Provider string // of which it is a version
	Number           int    // from 1

	Digest    string // of the module among the server's blobs, as in "sha256:9f86…"
	Size      int64  // of the module, in bytes
	Reference string // in a registry, from which the module came; empty if the bytes were pushed
	Metered   string // digest of the code that runs, which other modules may share; empty before it was compiled

	// Policy is what the version may do once it is approved: what its deployer asked for, or what its manifest requests.
	Policy policy.Policy

	State  VersionState
	Reason string // of the states refused, rejected and failed, for operators

	Created  time.Time
	Creator  string    // who pushed it
	Decided  time.Time // when it was approved or rejected; zero before
	Decider  string    // who decided; empty before
	Replaced time.Time // when the last route left it; zero for one that is or never was in a route
}

// A VersionState is how far a version has come. Those up to StateTried are left by the server alone, which goes on from
// them after a restart.
type VersionState string

// The states of versions, in their order.
const (
	StatePushed   VersionState = "pushed"   // its module is among the blobs
	StateAdmitted VersionState = "admitted" // the module is valid and within the limits of the plan
	StateCompiled VersionState = "compiled" // its native code is in the cache
	StateTried    VersionState = "tried"    // it has started and answered without a finding that refuses it
	StateWaiting  VersionState = "waiting"  // an operator has to approve what it asks for
	StateApproved VersionState = "approved" // it may be in a route
	StateRejected VersionState = "rejected" // an operator has rejected it: it never runs
	StateRefused  VersionState = "refused"  // the server has refused it: it never runs
	StateFailed   VersionState = "failed"   // a route took it back because of its faults; it may be put in a route again
)

// A Route says which versions of a provider serve its clients.
type Route struct {
	Tenant, Provider string

	Active   int       // number of the version that serves; 0 for none yet
	Previous int       // number of the one before it, to which a rollback returns; 0 for none
	Canary   int       // number of the version that serves a share of the clients; 0 for none
	Share    int       // of the clients that the canary serves, in percent, from 0 to 100; others by header alone
	Changed  time.Time // when it was last changed
	Changer  string    // who changed it
}

// A ProviderID names a provider of a tenant.
type ProviderID struct{ Tenant, Provider string }

// String returns the form of commands: TENANT/PROVIDER.
func (id ProviderID) String() string { return id.Tenant + "/" + id.Provider }

// VersionOf returns a version of a provider; nil if there is none with the number.
func (s *Snapshot) VersionOf(id ProviderID, number int) *Version {
	for _, v := range s.Versions[id] {
		if v.Number == number {
			return v
		}
	}
	return nil
}

// MarshalText implements [encoding.TextMarshaler].
func (id ProviderID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }
