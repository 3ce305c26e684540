// Package kvcap is the power to keep values by key from one call to the next.
//
// It owns the four key-value services, the interface of what keeps the values, and a [Memory] that forgets them when it
// is closed. A [Store] belongs to one [Namespace] and holds to one [Quota]: guests cannot name another, nor fill the
// disk. Package sqlitekv has the store on disk; package kvtest the behaviour that every store must show.
package kvcap
