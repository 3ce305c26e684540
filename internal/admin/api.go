package admin

import (
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// Node is a server.
type Node struct {
	Version     string    `json:"version"`
	Started     time.Time `json:"started"`
	Endpoints   []string  `json:"endpoints,omitempty"` // URLs of clients; {tenant} stands for the ID of a tenant
	Generation  uint64    `json:"generation"`          // of the configuration in force
	Tenants     int       `json:"tenants"`
	Live        int       `json:"liveProviders"`
	Capacity    int       `json:"liveCapacity,omitempty"` // live providers for which the machine has room; 0 if unknown
	CapacityBy  string    `json:"liveCapacityBy,omitempty"`
	LiveBytes   uint64    `json:"liveBytes"`
	Problems    []string  `json:"problems,omitempty"` // of the server; those of tenants are with the tenants
	Stale       int       `json:"staleTenants"`
	NotReadyFor []string  `json:"notReadyFor,omitempty"` // why the server takes no clients, as /readyz says
}

// A TenantSummary is a tenant in a list.
type TenantSummary struct {
	ID        string       `json:"id"`
	Plan      string       `json:"plan"`
	Owner     tenant.Owner `json:"owner,omitempty"`
	Providers int          `json:"providers"`
	Live      int          `json:"live"` // of its providers
	Keys      int          `json:"keys"`
	Disabled  bool         `json:"disabled,omitempty"`
	Problem   string       `json:"problem,omitempty"` // of its files: it is served as it last was, if it ever was right
}

// A Tenant is a tenant with all that an operator may see.
type Tenant struct {
	TenantSummary
	Hosts     []string   `json:"hosts,omitempty"`
	Origins   []string   `json:"origins,omitempty"`
	Tools     bool       `json:"tools,omitempty"`
	Anonymous []string   `json:"anonymousRoles,omitempty"`
	Roles     []string   `json:"roles,omitempty"`
	Modules   []Provider `json:"modules,omitempty"`
	Digest    string     `json:"digest,omitempty"` // of its files
}

// A Provider is a provider of a tenant.
type Provider struct {
	Name   string `json:"name"`
	Module string `json:"module"`
	Digest string `json:"digest,omitempty"` // that the module must have
	State  string `json:"state"`            // cold, starting, live, refused, or empty: no version is active
	Reason string `json:"reason,omitempty"` // of the states refused and empty

	Version   int    `json:"version,omitempty"`   // the active one, of a provider that is deployed; 0 for none
	Canary    int    `json:"canary,omitempty"`    // the version on trial; 0 for none
	Processes int    `json:"processes,omitempty"` // of all its versions
	Memory    uint64 `json:"memory,omitempty"`    // bytes of their own that these use
	// LastStart is when a process was ready last since the provider was opened; nil for none.
	LastStart *time.Time `json:"lastStart,omitempty"`
	LastFault *Fault     `json:"lastFault,omitempty"` // nil for none, or one that is forgotten
}

// A Fault is the last crash of a provider.
type Fault struct {
	Crash string    `json:"crash"` // the ID of its report
	Code  string    `json:"code"`  // as in "trap"
	Time  time.Time `json:"time"`
}

// Cold is the state of a provider without a process.
const Cold = "cold"

// A Key is an API key without its text.
type Key struct {
	ID       string     `json:"id"`
	Tenant   string     `json:"tenant"`
	Name     string     `json:"name"`
	Roles    []string   `json:"roles"`
	URIs     []string   `json:"uris,omitempty"`
	Networks []string   `json:"networks,omitempty"`
	Created  time.Time  `json:"created"`
	Creator  string     `json:"creator,omitempty"`
	Expires  *time.Time `json:"expires,omitempty"` // nil for never
	Expired  bool       `json:"expired,omitempty"`
	LastUsed string     `json:"lastUsed,omitempty"` // a day, in UTC
}

// A NewKey says which key to make.
type NewKey struct {
	Name     string   `json:"name"`
	Roles    []string `json:"roles"`              // at least one
	URIs     []string `json:"uris,omitempty"`     // patterns; none permits what the roles permit
	Networks []string `json:"networks,omitempty"` // as 192.0.2.0/24; none permits any
	Expires  string   `json:"expires,omitempty"`  // a time as RFC 3339 has it, or "never"; empty means 90 days from now
}

// Never is the NewKey.Expires of a key without an end.
const Never = "never"

// An IssuedKey is a key that was just made.
type IssuedKey struct {
	Key
	Text string `json:"text"` // which nothing can show again
}

// A Rotation says how to replace a key.
type Rotation struct {
	GraceSeconds int64 `json:"graceSeconds"` // for which the old key is good; at most 30 days
}

// An AdminKey is the credential of a person or program that administers the server, without its text.
type AdminKey struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Role    Role       `json:"role"`
	Tenant  string     `json:"tenant,omitempty"` // the only one that it is for
	Created time.Time  `json:"created"`
	Creator string     `json:"creator,omitempty"`
	Expires *time.Time `json:"expires,omitempty"` // nil for never
	Expired bool       `json:"expired,omitempty"`
}

// A NewAdminKey says which admin key to make.
type NewAdminKey struct {
	Name    string `json:"name"`
	Role    Role   `json:"role"`
	Tenant  string `json:"tenant,omitempty"`
	Expires string `json:"expires,omitempty"` // as for NewKey
}

// An IssuedAdminKey is an admin key that was just made.
type IssuedAdminKey struct {
	AdminKey
	Text string `json:"text"` // which nothing can show again
}

// A Page is a part of a list.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // the cursor of the next page; empty at the end
}

// A Load is what a tenant does now: see package telemetry.
type Load struct {
	Tenant    string  `json:"tenant"`
	PerSecond float64 `json:"requestsPerSecond"`
	P99Micros int64   `json:"p99Micros"`
	Live      int     `json:"live"` // of its providers
	Providers int     `json:"providers"`
	Bytes     uint64  `json:"liveBytes"`
	Waiting   int     `json:"waiting"` // calls that wait for a processor
	Limited   uint64  `json:"limited"` // requests of the last 20 seconds that a limit refused
	Faults    uint64  `json:"faults"`  // requests of the last 20 seconds that failed by a fault of a guest
}

// Top is what a server does now.
type Top struct {
	Time  time.Time `json:"time"`
	Node  Node      `json:"node"`
	Loads []Load    `json:"tenants"`
}

// A Report says what reading the configuration again has changed. Lists are IDs of tenants.
type Report struct {
	Generation uint64            `json:"generation"`
	Tenants    int               `json:"tenants"`            // all that are served now
	Set        []string          `json:"set,omitempty"`      // new or changed
	Removed    []string          `json:"removed,omitempty"`  // whose files are gone
	Problems   map[string]string `json:"problems,omitempty"` // of tenants, by ID: they are served as they last were
	Restart    []string          `json:"restart,omitempty"`  // settings that have changed and need a restart
	TookMillis int64             `json:"tookMs"`             // rounded up
}

// An Adoption says who owns a tenant from now on.
type Adoption struct {
	Owner tenant.Owner `json:"owner"`
}

// A Plan is a plan in a list.
type Plan struct {
	Name    string       `json:"name"`
	Owner   tenant.Owner `json:"owner"`
	Tenants int          `json:"tenants"` // that have it
	Weight  int          `json:"weight"`  // of each of them, while they wait for processors
	File    string       `json:"file"`    // what serve.yaml has after its name
}

// A Problem is an error of the API, as RFC 9457 has it.
type Problem struct {
	Title   string `json:"title"` // of the status
	Status  int    `json:"status"`
	Detail  string `json:"detail"`
	Code    string `json:"code"`              // stable: one of the Code constants
	Nearest string `json:"nearest,omitempty"` // the name that is most like one that does not exist
	File    string `json:"file,omitempty"`    // of an object of files, which the API does not change
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// Codes of problems.
const (
	CodeInvalid     = "invalid"      // the request, or the configuration, is wrong
	CodeNoAccess    = "unauthorized" // the request has no valid credential
	CodeForbidden   = "forbidden"    // the caller may not do this
	CodeNoTenant    = "no_tenant"    // there is no such tenant
	CodeNoCrash     = "no_crash"     // there is no such crash, or no session of it
	CodeNoSecret    = "no_secret"    // there is no such secret
	CodeNoProvider  = "no_provider"  // there is no such provider
	CodeNoPlan      = "no_plan"      // there is no such plan
	CodeNoVersion   = "no_version"   // there is no such version
	CodeState       = "state"        // the version is in a state in which this cannot be done
	CodeNoKey       = "no_key"       // there is no such key
	CodeNotFound    = "not_found"    // there is no such path
	CodeMethod      = "method"       // the path has another method
	CodeMediaType   = "media_type"   // the body has another Content-Type than the endpoint takes
	CodeTooLarge    = "too_large"    // the body is too large
	CodeConflict    = "conflict"     // something else has changed meanwhile
	CodeKeyReused   = "key_reused"   // the Idempotency-Key was that of another request
	CodeRepeated    = "repeated"     // the request is under way, or it is not known how it ended: see what there is
	CodeTooMany     = "too_many"     // there are too many of something; the request may be sent again later
	CodeOwned       = "owned"        // the object has another owner
	CodeUnavailable = "unavailable"  // the server cannot do it now; the request may be sent again
	CodeInternal    = "internal"     // the server failed
)
