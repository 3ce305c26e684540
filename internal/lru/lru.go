// Package lru caches values within a bound on what they cost in all, as in bytes.
package lru

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A Cache stores values by key. When they cost more than its bound in all, it discards the least recently used ones.
// Entries do not expire: a caller whose values have a lifetime stores it with them. A Cache is safe for concurrent use,
// starts no goroutine and holds nothing to be closed.
type Cache[K comparable, V any] struct {
	maxCost int64
	cost    func(K, V) int64

	mu      sync.Mutex // guards the fields below
	entries *simplelru.LRU[K, entry[V]]
	total   int64 // the cost of all entries, at most maxCost
}

// An entry is a value and what it cost when it was stored.
type entry[V any] struct {
	value V
	cost  int64
}

// New makes an empty cache of at most maxCost in all. cost gives what an entry takes, which counts as at least 1; it is
// called once for each Put, and must not use the cache.
func New[K comparable, V any](maxCost int64, cost func(K, V) int64) *Cache[K, V] {
	c := &Cache[K, V]{maxCost: maxCost, cost: cost}
	onRemove := func(_ K, e entry[V]) { c.total -= e.cost }
	entries, err := simplelru.NewLRU(math.MaxInt, onRemove) // the number of entries is bounded by their cost
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	c.entries = entries
	return c
}

// Get returns the value of k, which becomes the most recently used one.
func (c *Cache[K, V]) Get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Get(k)
	return e.value, ok
}

// Put stores v in place of the value of k, as the most recently used one, and discards as many of the least recently
// used ones as it needs room. A value that costs more than the whole cache may is not stored: then k has no value, and
// all others stay.
func (c *Cache[K, V]) Put(k K, v V) {
	cost := max(c.cost(k, v), 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if cost > c.maxCost {
		c.entries.Remove(k)
		return
	}
	if old, ok := c.entries.Peek(k); ok {
		c.total -= old.cost
	}
	c.entries.Add(k, entry[V]{v, cost})
	for c.total > c.maxCost-cost { // the cost of the others, of which each is older than k
		c.entries.RemoveOldest()
	}
	c.total += cost
}

// Remove discards the value of k, if it has one.
func (c *Cache[K, V]) Remove(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(k)
}

// RemoveFunc discards the entries for which match is true. It keeps the order of the others, and calls match once for
// each entry, with the cache locked.
func (c *Cache[K, V]) RemoveFunc(match func(K, V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range c.entries.Len() {
		k, e, _ := c.entries.GetOldest()
		if match(k, e.value) {
			c.entries.Remove(k)
			continue
		}
		c.entries.Get(k) // becomes the newest; when each has, the order is as before, and no list of keys was made
	}
}

// Clear discards all entries.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Purge()
}
