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
	clients *lru.Cache[string, *Client]
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
	one := func(string, *Client) int64 { return 1 }
	return &Limiter{rate: rate.Limit(perSecond), burst: burst, clients: lru.New(maxClients, one)}, nil
}

// A Client is the bucket of one client. It is safe for concurrent use. A nil Client may send everything.
type Client struct{ bucket *rate.Limiter }

// Client returns the client of a name; nil of a nil Limiter. A caller may keep it, as for a connection.
func (l *Limiter) Client(name string) *Client {
	if l == nil {
		return nil
	}
	bucket, known := l.clients.Get(name)
	if !known { // two goroutines may both make one: the client gets a second burst once
		bucket = &Client{rate.NewLimiter(l.rate, l.burst)}
		l.clients.Put(name, bucket)
	}
	return bucket
}

// Allow counts n requests, and reports whether the client may send them now. If not, nothing is counted, and retryAfter
// says when it may. More requests at once than a burst are never allowed; retryAfter is then the time for a whole burst.
func (c *Client) Allow(n int) (retryAfter time.Duration, ok bool) {
	if c == nil {
		return 0, true
	}
	now := time.Now()
	if c.bucket.AllowN(now, n) {
		return 0, true
	}
	missing := float64(min(n, c.bucket.Burst())) - c.bucket.TokensAt(now)
	seconds := min(max(missing, 0)/float64(c.bucket.Limit()), maxRetry.Seconds())
	return max(time.Duration(seconds*float64(time.Second)), time.Millisecond), false
}

// maxRetry is the longest time to retry after that is told.
const maxRetry = time.Hour
