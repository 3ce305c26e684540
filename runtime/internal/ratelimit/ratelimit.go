// Package ratelimit bounds the rate of requests of each client.
package ratelimit

import (
	"errors"
	"math"
	"time"

	"github.com/wasmres/wasmres/internal/lru"
	"github.com/wasmres/wasmres/internal/tokenbucket"
	"github.com/wasmres/wasmres/runtime/admission"
)

// maxClients is how many clients are known. The one that has sent nothing for the longest time is forgotten for another,
// and may then send a burst again.
const maxClients = 16_384

// A Limiter is an [admission.Gate] with a token bucket for each client, and no other limit.
type Limiter struct {
	rate    tokenbucket.Rate
	began   time.Time
	clients *lru.Cache[string, *client]
}

// New makes a Limiter of perSecond requests a second and bursts of burst requests; 0 means those of one second, at least
// one.
func New(perSecond float64, burst int) (*Limiter, error) {
	if !(perSecond > 0) || math.IsInf(perSecond, 1) || burst < 0 {
		return nil, errors.New("the rate must be positive, and the burst not negative")
	}
	one := func(string, *client) int64 { return 1 }
	return &Limiter{rate: tokenbucket.New(perSecond, burst), began: time.Now(), clients: lru.New(maxClients, one)}, nil
}

// Account implements [admission.Gate].
func (l *Limiter) Account(key string, by admission.By) admission.Account {
	c, known := l.clients.Get(key)
	if !known { // two goroutines may both make one: the client gets a second burst once
		c = &client{limiter: l, by: by}
		l.clients.Put(key, c)
	}
	return c
}

// A client is the bucket of one client.
type client struct {
	limiter *Limiter
	by      admission.By
	bucket  tokenbucket.Bucket
}

// Enter implements [admission.Account].
func (c *client) Enter(requests int) (refused admission.Refusal, ok bool) {
	retryAfter, ok := c.bucket.Take(int64(time.Since(c.limiter.began)), requests, c.limiter.rate)
	if ok {
		return refused, true
	}
	refused = admission.Refusal{Limit: admission.Requests, Of: "client", RetryAfter: min(max(retryAfter, time.Millisecond), maxRetry)}
	if c.by == admission.Principal {
		refused.Of = "principal"
	}
	return refused, false
}

// maxRetry is the longest time to retry after that is told.
const maxRetry = time.Hour

// Leave implements [admission.Account].
func (*client) Leave() {}

// Open implements [admission.Account].
func (*client) Open(admission.Kind) (refused admission.Refusal, ok bool) { return refused, true }

// Close implements [admission.Account].
func (*client) Close(admission.Kind) {}

// Write implements [admission.Account].
func (*client) Write(int) time.Duration { return 0 }
