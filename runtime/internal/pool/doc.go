// Package pool has the instances of one module between calls, as the provider's lifecycle says, and runs guests in this
// process.
package pool
