package tenant

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/enginename"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/runtime/limits"
)

// DefaultPlan is the name of the plan of tenants that name none.
const DefaultPlan = "default"

// A Plan bounds what one tenant may use. A zero field is the default of its comment; none means unlimited.
type Plan struct {
	Name  string
	Owner Owner // who may change the plan: empty, which is OwnerFiles, for those of serve.yaml, or OwnerAPI

	Requests          Rate // of the whole tenant; default 200 a second, at most 400 at once
	PrincipalRequests Rate // of each of its clients; default 50 a second, at most 200 at once
	ProviderRequests  Rate // of each of its providers; default those of the tenant
	Concurrent        int  // requests at once; default 32
	// Weight is the share of the processors, beside those of other tenants that want more than there are; default 1, at most 1,000.
	Weight int `json:",omitempty"`
	// Streams of changes at once, of the tenant and of each client; default 100 and 10.
	Streams, PrincipalStreams int
	// Sessions at once, of revisions before 2026-07-28, of the tenant and of each client; default 500 and 50.
	Sessions, PrincipalSessions int

	BytesPerSecond int64         // of answers; default 20 MiB
	BytesPerDay    int64         // of answers; default 100 GiB
	CPUPerDay      time.Duration // of guests; default 6 h

	LiveProviders   int   // with a process at once; default 8: see Live
	LiveMemory      int64 // bytes of their own that these processes may use before another starts; default 512 MiB
	StartsPerMinute int   // of processes; default 60

	LogBytes   int64  // of the files of what its guests log; default 20 MiB
	AuditReads bool   `json:",omitempty"` // the ledger has an entry of each read
	CrashURIs  bool   // reports of crashes have the URIs of the calls, for all tenants of the plan
	Engine     string `json:",omitempty"` // runs guests: wazero, the default, or wasmtime
	Shadow     int    `json:",omitempty"` // calls for each that also runs on the other engine, in the background; default none
	Modules    int64  // bytes of the modules of all its versions; default 200 MiB

	Limits policy.Limits // of each provider, at most; zero fields are those of runtime
	// Ceiling is what policies of such tenants may grant at most. Nil does not bound them.
	Ceiling *policy.Policy
}

// A Rate is a token bucket.
type Rate struct {
	PerSecond float64
	Burst     int // at once
}

// Live returns LiveProviders, LiveMemory and StartsPerMinute, or their defaults.
func (p *Plan) Live() (providers int, memory int64, startsPerMinute int) {
	return cmp.Or(p.LiveProviders, 8), cmp.Or(p.LiveMemory, 512<<20), cmp.Or(p.StartsPerMinute, 60)
}

// Engines returns the engine that runs a provider, empty for the default, and how many of its calls there are for each that also runs
// on the other engine, 0 for none of them.
func (p *Plan) Engines(of *Provider) (engine string, shadow int) {
	return cmp.Or(of.Engine, p.Engine), cmp.Or(of.Shadow, p.Shadow)
}

// checkEngines returns an error if this program lacks an engine that a plan or provider needs, and the key of the value that needs it.
func checkEngines(engine string, shadow int) (key string, err error) {
	key, err = "engine", enginename.Check(engine)
	if err == nil && shadow > 0 {
		key, err = "shadow", enginename.CheckOther(engine)
	}
	if err != nil {
		err = fmt.Errorf("%w; or leave it out", err)
	}
	return key, err
}

// Permits returns an error that says in words what a policy grants, or which limit it asks for, beyond the plan.
func (p *Plan) Permits(asked *policy.Policy) error {
	var beyond []string
	if p.Ceiling != nil {
		granted := *asked
		granted.Limits = policy.Limits{}
		if !policy.Covers(p.Ceiling, &granted) {
			beyond = policy.Beyond(p.Ceiling, &granted)
		}
	}
	for _, l := range p.boundsOf(asked.Limits) {
		if l.most > 0 && l.asked > l.most {
			beyond = append(beyond, fmt.Sprintf("use %s %s, where %s is the most", l.name, l.format(l.asked), l.format(l.most)))
		}
	}
	if len(beyond) == 0 {
		return nil
	}
	return fmt.Errorf("the policy permits more than the plan %s: %s: remove it from the policy, or choose another plan",
		p.Name, strings.Join(beyond, "; "))
}

// limits returns p.Limits with the defaults of the runtime. It has no default for processors.
func (p *Plan) limits() policy.Limits {
	l := p.Limits
	l.Memory, l.Fuel = cmp.Or(l.Memory, limits.DefaultMemory), cmp.Or(l.Fuel, limits.DefaultFuel)
	l.Timeout, l.Output = cmp.Or(l.Timeout, limits.DefaultTimeout), cmp.Or(l.Output, limits.DefaultOutput)
	l.Stack, l.Log = cmp.Or(l.Stack, limits.DefaultStack), cmp.Or(l.Log, limits.DefaultLog)
	return l
}

// maxWeight is the greatest Plan.Weight: that of a [runtime.Share].
const maxWeight = 1000

// maxCalls is the greatest Processors.Calls: that of [runtime.ProcessorsConfig].
const maxCalls = 4096

// DefaultModules is that of Plan.Modules.
const DefaultModules = 200 << 20

// LimitsOf returns the limits under which a provider runs: those of its policy, and at most those of the plan.
func (p *Plan) LimitsOf(own policy.Limits) limits.Limits {
	most := &p.Limits
	return limits.Limits{
		MilliCPU: least(own.MilliCPU, most.MilliCPU), Memory: least(own.Memory, most.Memory), Fuel: least(own.Fuel, most.Fuel),
		Timeout: least(own.Timeout, most.Timeout), Output: least(own.Output, most.Output),
		Stack: uint32(min(least(own.Stack, most.Stack), math.MaxUint32)), Log: int(min(least(own.Log, most.Log), math.MaxInt32)),
	}
}

// least returns the smaller of two limits; zero is none.
func least[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}

// PlanOf returns the plan of a tenant.
func (s *Snapshot) PlanOf(t *Tenant) *Plan {
	if p := s.Plans[t.Plan]; p != nil {
		return p
	}
	if p := s.Plans[DefaultPlan]; p != nil {
		return p
	}
	return &Plan{Name: DefaultPlan}
}

// A bounded limit is one that a policy asks for, and the most that the plan grants; zero for none.
type bounded struct {
	name        string
	asked, most uint64
	format      func(uint64) string
}

func (p *Plan) boundsOf(asked policy.Limits) []bounded {
	most := p.limits()
	count := func(n uint64) string { return strconv.FormatUint(n, 10) }
	milli := func(n uint64) string { return count(n) + "m" }
	duration := func(n uint64) string { return time.Duration(n).String() }
	return []bounded{
		{"cpu", uint64(asked.MilliCPU), uint64(most.MilliCPU), milli},
		{"memory", asked.Memory, most.Memory, policy.FormatSize},
		{"fuel", asked.Fuel, most.Fuel, count},
		{"timeout", uint64(asked.Timeout), uint64(most.Timeout), duration},
		{"output", asked.Output, most.Output, policy.FormatSize},
		{"stack", asked.Stack, most.Stack, policy.FormatSize},
		{"log", asked.Log, most.Log, policy.FormatSize},
	}
}
