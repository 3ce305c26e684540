package tenant

import (
	"time"

	"github.com/wasmres/wasmres/internal/policy"
)

// DefaultPlan is the name of the plan of tenants that name none.
const DefaultPlan = "default"

// A Plan bounds what one tenant may use. A zero field is the default of its comment; none means unlimited.
type Plan struct {
	Name string

	Requests          Rate // of the whole tenant; default 200 a second, at most 400 at once
	PrincipalRequests Rate // of each of its clients; default 50 a second, at most 200 at once
	ProviderRequests  Rate // of each of its providers; default those of the tenant
	Concurrent        int  // requests at once; default 32
	// Streams of changes at once, of the tenant and of each client; default 100 and 10.
	Streams, PrincipalStreams int
	Sessions                  int // at once, of revisions before 2026-07-28; default 500

	BytesPerSecond int64         // of answers; default 20 MiB
	BytesPerDay    int64         // of answers; default 100 GiB
	CPUPerDay      time.Duration // of guests; default 6 h

	LiveProviders   int   // with a process at once; default 8
	LiveMemory      int64 // bytes of these processes, by the limits of their policies; default 512 MiB
	StartsPerMinute int   // of processes; default 60

	Limits policy.Limits // of each provider, at most; zero fields are those of runtime
	// Ceiling is what policies of such tenants may grant at most. Nil does not bound them.
	Ceiling *policy.Policy
}

// A Rate is a token bucket.
type Rate struct {
	PerSecond float64
	Burst     int // at once
}
