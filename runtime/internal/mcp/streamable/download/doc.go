// Package download serves the bytes of a resource to GET and HEAD, with ranges and conditional requests (RFC 9110).
//
// It never holds more than a part of the resource: it passes on what the provider sends, or, from a provider that
// answers ranges, asks for one part after the other. While a client is slow to receive a part, the provider does not
// wait.
package download
