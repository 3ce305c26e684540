package tenant

import (
	"strconv"
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

	CompileTime time.Duration `json:",omitempty"` // zero before it was compiled; next to nothing for code that was compiled before

	// Policy is what the version may do once it is approved: what its deployer asked for, or, unless HasPolicy, what its
	// manifest requests.
	Policy    policy.Policy
	HasPolicy bool // its deployer named Policy
	// Next is what the server does with it once it is approved.
	Next Next
	// Approver is who approved it before it was known what it asks for; empty for no one.
	Approver string

	State  VersionState
	Reason string // of the states refused, rejected and failed, for operators

	Manifest string // JSON, at most MaxVersionText bytes; empty before it was tried
	Report   string // JSON of what the trial found, at most MaxVersionText bytes; empty before it was tried

	Created  time.Time
	Creator  string    // who pushed it
	Decided  time.Time // when it was approved or rejected; zero before
	Decider  string    // who decided; empty before
	Replaced time.Time // when the route left it; zero for one that is or never was in the route. The Store sets it.
}

// Bounds of versions.
const (
	MaxVersions    = 64       // of a provider
	MaxVersionText = 64 << 10 // bytes

	MaxPromoteAfter = 30 * 24 * time.Hour
)

// Next is what the server does with a version once it is approved. The zero value leaves the route as it is.
type Next struct {
	Promote bool // it becomes the active version
	Canary  bool // it becomes the canary, with Share; where no version is active, the active one
	Share   int  // in percent, from 0 to 100

	PromoteAfter time.Duration `json:",omitempty"` // of a canary: that of its route
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

	Active   int // number of the version that serves; 0 for none yet
	Previous int // number of the one before it, to which a rollback returns; 0 for none
	Canary   int // number of the version that serves a share of the clients; 0 for none
	Share    int // of the clients that the canary serves, in percent, from 0 to 100; others by header alone

	// PromoteAfter is how long the canary serves before it becomes the active version by itself; 0 leaves that to an operator.
	PromoteAfter time.Duration `json:",omitempty"`

	Changed time.Time // when it was last changed
	Changer string    // who changed it
}

// A ProviderID names a provider of a tenant.
type ProviderID struct{ Tenant, Provider string }

// ID names the provider of which v is a version.
func (v *Version) ID() ProviderID { return ProviderID{v.Tenant, v.Provider} }

// Name returns the form of commands: TENANT/PROVIDER@NUMBER.
func (v *Version) Name() string { return v.ID().String() + "@" + strconv.Itoa(v.Number) }

// IsRunnable reports whether v may be in a route.
func (v *Version) IsRunnable() bool { return v.State == StateApproved || v.State == StateFailed }

// IsUnderWay reports whether the server goes on with v by itself.
func (v *Version) IsUnderWay() bool {
	return v.State == StatePushed || v.State == StateAdmitted || v.State == StateCompiled || v.State == StateTried
}

// ID names the provider of which r is the route.
func (r *Route) ID() ProviderID { return ProviderID{r.Tenant, r.Provider} }

// Has reports whether r names a version.
func (r *Route) Has(number int) bool {
	return number > 0 && (r.Active == number || r.Previous == number || r.Canary == number)
}

// Provider returns the provider of a name; nil if there is none.
func (t *Tenant) Provider(name string) *Provider {
	for i := range t.Providers {
		if t.Providers[i].Name == name {
			return &t.Providers[i]
		}
	}
	return nil
}

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

// ModulesOf returns the sizes of the modules of a tenant's versions, in bytes by digest.
func (s *Snapshot) ModulesOf(tenantID string) map[string]int64 {
	sizes := map[string]int64{}
	for id, versions := range s.Versions {
		if id.Tenant != tenantID {
			continue
		}
		for _, v := range versions {
			sizes[v.Digest] = v.Size
		}
	}
	return sizes
}

// MarshalText implements [encoding.TextMarshaler].
func (id ProviderID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }
