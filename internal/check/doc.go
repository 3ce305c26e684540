// Package check asks a provider everything a client could, and says what it found wrong.
//
// It lists, reads, completes and asks for what cannot be there, and holds the answers to the rules of [Rules]. It knows
// a provider by its manifest and by [resource.Source]. What stands in a [Report] is bounded and cannot steer a terminal,
// whatever the provider says.
package check
