package quota

import (
	"cmp"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tokenbucket"
	"github.com/wasmres/wasmres/runtime/admission"
)

// Rate of requests of a client without a valid credential. The authentication bounds wrong credentials more tightly. A client also
// sends a request without one, to learn which credential it needs.
const (
	strangerRate  = 5 // a second
	strangerBurst = 50
)

// bounds are those of a plan, with the defaults that it takes. They are immutable.
type bounds struct {
	requests, principal, provider tokenbucket.Rate
	bytes                         tokenbucket.Rate
	concurrent                    int64
	streams, principalStreams     int
	sessions, principalSessions   int
	bytesPerDay                   int64
	cpuPerDay                     time.Duration
}

func boundsOf(p *tenant.Plan) *bounds {
	b := &bounds{
		requests: rateOf(p.Requests, tenant.Rate{PerSecond: 200, Burst: 400}), principal: rateOf(p.PrincipalRequests, tenant.Rate{PerSecond: 50, Burst: 200}),
		bytes:      tokenbucket.New(float64(cmp.Or(p.BytesPerSecond, 20<<20)), 0),
		concurrent: int64(cmp.Or(p.Concurrent, 32)),
		streams:    cmp.Or(p.Streams, 100), principalStreams: cmp.Or(p.PrincipalStreams, 10),
		sessions: cmp.Or(p.Sessions, 500), principalSessions: cmp.Or(p.PrincipalSessions, 50),
		bytesPerDay: cmp.Or(p.BytesPerDay, 100<<30), cpuPerDay: cmp.Or(p.CPUPerDay, 6*time.Hour),
	}
	if b.provider = b.requests; p.ProviderRequests.PerSecond > 0 {
		b.provider = rateOf(p.ProviderRequests, tenant.Rate{})
	}
	return b
}

// open returns the name of the limit of sessions or subscriptions, and how many of them the tenant and each of its clients may have
// open at once.
func (b *bounds) open(k admission.Kind) (limit string, most, mostOfOne int) {
	if k == admission.Session {
		return admission.Sessions, b.sessions, b.principalSessions
	}
	return admission.Subscriptions, b.streams, b.principalStreams
}

// rateOf returns a rate of a plan, or the default one. A rate without a burst has that of one second.
func rateOf(r, unset tenant.Rate) tokenbucket.Rate {
	if r.PerSecond <= 0 {
		r = unset
	}
	return tokenbucket.New(r.PerSecond, r.Burst)
}
