package rollout

import (
	"context"
	"math/rand/v2"

	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/resource"
)

// places is the number of places that clients have; a share of n percent is the first n.
const places = 100

// pick returns the canary of the client of a request; nil for none. req is nil for a subscription.
func (s *Source) pick(ctx context.Context, req *resource.Request) *Canary {
	caller := auth.CallerOf(ctx)
	if caller != nil && caller.Version > 0 {
		return s.named(caller.Version)
	}
	kind, asker := askerOf(caller, req)
	for _, c := range s.canaries {
		if place(c.salt, kind, asker) < c.Share && !c.Trial.Failed() {
			return c
		}
	}
	return nil
}

// named returns the canary of a version; nil for none.
func (s *Source) named(version int) *Canary {
	for _, c := range s.canaries {
		if c.Version == version && !c.Trial.Failed() {
			return c
		}
	}
	return nil
}

// askerOf returns the name of a client, and of which kind that is; 0 for none.
func askerOf(caller *auth.Caller, req *resource.Request) (kind byte, name string) {
	session, address := "", ""
	if caller != nil {
		if caller.Identity != nil && caller.Name() != auth.Anonymous {
			return 'p', caller.Name()
		}
		session, address = caller.Session, caller.Address
	}
	if req != nil && req.Session != "" {
		session = req.Session
	}
	switch {
	case session != "":
		return 's', session
	case address != "":
		return 'a', address
	}
	return 0, ""
}

// place returns the place of a client, from 0 to places-1; of one without a name any.
func place(salt uint64, kind byte, name string) int {
	if kind == 0 {
		return rand.IntN(places)
	}
	h := hash(salt, name)
	return int(mix(h^uint64(kind)) % places)
}

const (
	offset64 = 14695981039346656037 // of FNV-1a
	prime64  = 1099511628211
)

// hash adds a name to a hash. It is the same in each process, so that clients stay where they are after a restart.
func hash(h uint64, name string) uint64 {
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime64
	}
	return h
}

// mix spreads the bits of a hash evenly.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
