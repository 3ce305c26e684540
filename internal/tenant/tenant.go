// Package tenant says what a server hosts: tenants with their providers, roles and keys, and the plans that bound them.
//
// Its values are plain data, which JSON can hold, and are not changed once they are in a [Snapshot].
package tenant

import (
	"net/netip"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
)

// A Tenant is one customer of the server. Tenants share nothing.
type Tenant struct {
	ID        string     // lower-case letters, digits and dashes, at most 63 bytes; as in /t/ID/mcp
	Plan      string     // name of its plan; empty for the default one
	Hosts     []string   // names by which clients may reach it, beside its path, in lower case
	Origins   []string   // of web pages that may call it
	Providers []Provider // sorted by name
	Roles     []Role     // sorted by name
	Anonymous []string   // names of the roles of clients without a key; none refuses them
	Issuers   []Issuer   // of the tokens of clients
	// Certificates of clients that are accepted; nil for none.
	Certificates *Certificates `json:",omitempty"`

	Scopes    []string // that clients are asked to sign in for; none asks for those of all rules
	Tools     bool     // its resources are also offered as tools
	CrashURIs bool     // reports of crashes have the URIs of the calls
	Disabled  bool     // every request is refused

	// Owner says who may change the tenant: OwnerFiles or OwnerAPI.
	Owner Owner
	// Files are the absolute paths of what the tenant was read from: its own file, then those of its policies, sorted. None
	// with OwnerAPI.
	Files []string
	// Digest is the SHA-256, in hex, of Files and what is in them. Equal digests of one ID are equal tenants. Empty with
	// OwnerAPI.
	Digest string
}

// An Owner is who may change an object.
type Owner string

// The owners.
const (
	OwnerFiles Owner = "files"
	OwnerAPI   Owner = "api"
)

// A Provider is one provider of a tenant.
type Provider struct {
	Name string // of the provider among those of the tenant
	// Module is the absolute path of the .wasm file, or a reference in a registry. It is empty for a provider whose modules
	// are deployed: the versions of its [Route] serve, each with a policy of its own. What Policy permits is approved in
	// advance then.
	Module string
	Digest string        // that the module must have, as in "sha256:9f86…"; empty for any
	Policy policy.Policy // what it may do; host paths are absolute
	// Prefixes narrow the URIs that it may answer; none leaves those of its manifest.
	Prefixes []string
	// PassPrincipal tells the guest who the client is. Then answers are not shared between clients.
	PassPrincipal bool
	// RecordCrashes keeps, of a call in which the guest crashes, all by which it can run again: the request, the answers of the
	// capabilities, the time and the random numbers.
	RecordCrashes bool
	// Engine runs the guest: wazero or wasmtime; empty for that of the plan. Only files of the operator set it, and Shadow.
	Engine string `json:",omitempty"`
	// Shadow is how many calls there are for each that also runs on the other engine, in the background; 0 for that of the plan.
	Shadow int `json:",omitempty"`
}

// A Role is a set of permissions with a name.
type Role struct {
	Name  string
	Rules []Rule // of which any permits; those of roles that it uses are among them
}

// RoleCanary is the name of the role whose keys may choose a version of a provider by the header Wasmres-Version. Its rules
// permit what they say, as those of any role.
const RoleCanary = "canary"

// A Rule permits actions on URIs.
type Rule struct {
	Actions   []string // of list, read, watch, complete and download
	URIs      []string // patterns, as auth.ParsePattern reads them
	Providers []string // names; none for all
	Scope     string   // that a token must have for it; empty for none. Clients with keys need none
}

// An Issuer is an OAuth issuer whose tokens a tenant accepts.
type Issuer struct {
	URL           string              // as its tokens have it
	Audiences     []string            // that its tokens may be for, beside the endpoints of the tenant
	Types         []string            // that the header typ of its tokens may have; none for at+jwt; "none" for no header
	Roles         []string            // that every token of it gives
	RolesClaim    string              // the claim whose values Map maps; empty for roles
	Map           map[string][]string // to names of roles
	Discovery     string              // URL of its metadata; empty for where the standards have it
	Keys          string              // URL of its keys; empty for the one in its metadata
	Introspection *Introspection      // nil refuses opaque tokens
	Insecure      bool                // it may be reached by HTTP, at a loopback address
}

// Introspection is how an issuer is asked about opaque tokens.
type Introspection struct {
	URL      string // empty for the one in the issuer's metadata
	ClientID string
	Secret   string // name of a secret of the tenant; empty for SecretFile
	// SecretFile is the absolute path of a file with the client's secret.
	SecretFile string
}

// A Key is an API key of a tenant. Its text is not kept.
type Key struct {
	ID       string // the part of its text between wr_ and the next _
	Tenant   string
	Name     string         // of the client: the subject of its principal
	SHA256   [32]byte       // of the text
	Roles    []string       // names of the tenant's roles; those that no longer exist permit nothing
	URIs     []string       // patterns that narrow what the roles permit; none does not
	Networks []netip.Prefix // from which it may be used; none for any
	Created  time.Time
	Creator  string    // who made it, for the operator
	Expires  time.Time // zero for never
	LastUsed time.Time // the day, in UTC; zero for never
}

// A Snapshot is all that a server hosts at one moment. It is immutable.
type Snapshot struct {
	Generation uint64 // grows with each change
	// Changed says what differs from the generation before; nil if that is not known. See ChangedSince.
	Changed  *Changed `json:"-"`
	Tenants  map[string]*Tenant
	Hosts    map[string]*Tenant        // by each of Tenant.Hosts
	Plans    map[string]*Plan          // by name; there is one named default
	Keys     map[string]*Key           // by ID
	Versions map[ProviderID][]*Version // sorted by number
	Routes   map[ProviderID]*Route
	// Numbers are the highest numbers that versions ever had, those removed included.
	Numbers   map[ProviderID]int
	AdminKeys map[string]*AdminKey // by ID
	Secrets   map[SecretID]*Secret
	// Problems are of tenants whose files are wrong. Such a tenant is served as it last was, if it ever was right.
	Problems map[string]string
	// Gone are tenants whose files were removed, with the time of that.
	Gone map[string]time.Time
	// GoneOwners are the owners of these. No other owner may take the ID while it is in Gone.
	GoneOwners map[string]Owner
}
