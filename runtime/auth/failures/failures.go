// Package failures bounds how many credentials an address may try.
package failures

import (
	"hash/maphash"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/auth"
)

const (
	maxFailures  = 10 // different bad credentials of an address, for a tenant, within failureTime
	failureTime  = time.Minute
	maxAddresses = 16_384 // that are counted within failureTime
)

// A Counter counts the bad credentials that clients show. A credential counts once within a minute, however often it is shown: a
// client that repeats an old key guesses nothing, and one request may be authenticated more than once. Its zero value is ready.
// It is safe for concurrent use.
type Counter struct {
	mu    sync.Mutex
	began time.Time
	seen  map[source][]uint64 // hashes of credentials
}

// A source is an address, or with IPv6 a network, and the tenant that it asks.
type source struct {
	network netip.Prefix
	tenant  string
}

var seed = maphash.MakeSeed()

// Add counts a bad credential that was shown to a tenant, and gives the error for it: [auth.ErrInvalid], or an
// [auth.TooManyError] after ten others of an address.
func (f *Counter) Add(tenant string, c auth.Credential) error {
	from := source{networkOf(c.Address), tenant}
	hash := maphash.String(seed, c.Authorization)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if past := now.Sub(f.began); f.seen == nil || past >= failureTime || past < 0 {
		f.began, f.seen = now, map[source][]uint64{}
	}
	hashes := f.seen[from]
	switch {
	case slices.Contains(hashes, hash), hashes == nil && len(f.seen) >= maxAddresses:
		return auth.ErrInvalid
	case len(hashes) >= maxFailures:
		return &auth.TooManyError{RetryAfter: f.began.Add(failureTime).Sub(now)}
	}
	f.seen[from] = append(hashes, hash)
	return auth.ErrInvalid
}

// Exceeded reports whether an address has shown a tenant as many bad credentials as it may, or cannot be counted since too many
// others are, and for how long that is so.
func (f *Counter) Exceeded(tenant string, address netip.Addr) (wait time.Duration, exceeded bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	past := time.Since(f.began)
	if f.seen == nil || past >= failureTime || past < 0 {
		return 0, false
	}
	hashes, known := f.seen[source{networkOf(address), tenant}]
	return failureTime - past, len(hashes) >= maxFailures || !known && len(f.seen) >= maxAddresses
}

// networkOf gives the network that one client may have.
func networkOf(address netip.Addr) netip.Prefix {
	bits := 64
	if address.Is4() {
		bits = 32
	}
	network, _ := address.Prefix(bits) // the zero Prefix for the zero Addr
	return network
}
