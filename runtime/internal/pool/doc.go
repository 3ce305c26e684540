// Package pool has the instances of one module between calls, according to the provider's lifecycle, and runs guests in
// this process.
package pool
