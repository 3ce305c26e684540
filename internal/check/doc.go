// Package check sends a provider the requests a client could send and reports the answers that break a rule of [Rules].
//
// It lists, reads, completes, and asks for resources that do not exist. It knows a provider by its manifest and by
// [resource.Source]. The texts in a [Report] are bounded and have no terminal control characters, whatever the provider
// sends.
package check
