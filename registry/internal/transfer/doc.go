// Package transfer copies providers and their signatures from one place to another, in the order of trust.
//
// The manifest that a name stands for is fetched by its digest, then the signatures about it, and the caller decides; only then
// is the module fetched, by the digest in that manifest, and hashed on the way. The tag of the target changes last, so that
// a copy that fails or is cancelled changes nothing that a name stands for.
package transfer
