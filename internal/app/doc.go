// Package app opens providers with what a policy and flags grant, and serves them: it makes capabilities of grants, reports
// denied calls, and combines or replaces providers.
//
// Only packages of cmd/wasmres import it.
package app
