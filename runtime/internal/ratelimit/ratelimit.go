// Package ratelimit bounds the rate of requests of each client.
package ratelimit

import (
	"errors"
	"math"
	"time"

	"golang.org/x/time/rate"

	"github.com/wasmres/wasmres/runtime/internal/lru"
)

// maxClients is how many clients are known. The one that has sent nothing for the longest time is forgotten for another,
// and may then send a burst again.
const maxClients = 16_384

// A Limiter has a token bucket for each client. It is safe for concurrent use. A nil Limiter allows everything.
type Limiter struct {
	rate    rate.Limit
	burst   int
	clients *lru.Cache[string, *rate.Limiter]
}

// New makes a Limiter of perSecond requests a second and bursts of burst requests; 0 means those of one second, at least
// one.
func New(perSecond float64, burst int) (*Limiter, error) {
	if !(perSecond > 0) || math.IsInf(perSecond, 1) || burst < 0 {
		return nil, errors.New("the rate must be positive, and the burst not negative")
	}
	if burst == 0 {
		burst = int(min(max(math.Ceil(perSecond), 1), math.MaxInt32))
	}
	one := func(string, *rate.Limiter) int64 { return 1 }
	return &Limiter{rate: rate.Limit(perSecond), burst: burst, clients: lru.New(maxClients, one)}, nil
}

// Allow counts n requests of a client, and reports whether it may send them now. If not, nothing is counted, and retryAfter
// says when it may. More requests at once than a burst are never allowed; retryAfter is then the time for a whole burst.
func (l *Limiter) Allow(client string, n int) (retryAfter time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	bucket, known := l.clients.Get(client)
	if !known { // two goroutines may both make one: the client gets a second burst once
		bucket = rate.NewLimiter(l.rate, l.burst)
		l.clients.Put(client, bucket)
	}
	now := time.Now()
	if bucket.AllowN(now, n) {
		return 0, true
	}
	missing := float64(min(n, l.burst)) - bucket.TokensAt(now)
	seconds := min(max(missing, 0)/float64(l.rate), maxRetry.Seconds())
	return max(time.Duration(seconds*float64(time.Second)), time.Millisecond), false
}

// maxRetry is the longest time to retry after that is told.
const maxRetry = time.Hour
