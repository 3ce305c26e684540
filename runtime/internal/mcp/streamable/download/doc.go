// Package download serves the bytes of a resource to GET and HEAD, with ranges and conditional requests (RFC 9110).
//
// It never stores more than a part of the resource: it passes on the provider's bytes or, if the provider answers
// ranges, reads one part after the other. Then a client that receives a part slowly does not keep the provider waiting.
package download
