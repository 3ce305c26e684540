// Package kvcap is the capability to store values by key, from one call to the next.
//
// It owns the four key-value services, the interface [Store], and a [Memory] that discards its values when it is closed. A
// store has one [Namespace] and one [Quota]: guests cannot name another namespace, nor fill the disk. Package sqlitekv has
// the store on disk; package kvtest tests the behaviour that all stores share.
package kvcap
