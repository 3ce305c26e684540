// Package capability is what a host power looks like to the runtime: bytes in, bytes out.
//
// It owns the interface of a service and the power to read configuration. Each further power is a package below this
// folder, bounded by its grant. No engine type reaches any of them.
package capability
