// Package telemetry counts what the tenants of a server do: for Prometheus, and for an operator who looks at the server now.
// No other package imports github.com/prometheus/client_golang.
//
// # Bounds
//
// The label tenant is one of the 200 tenants with most requests in the last hour, or "other". Each request is counted once:
// for its tenant while the tenant has a label, for "other" while it has none. So no counter ever goes back. A label never
// has a URI, a principal or a key. Methods, codes and reasons are from fixed lists, and each tenant has at most 12
// combinations of method, code and era; further ones count as method "other". There are at most 6,000 series, with any
// number of tenants and any requests.
//
// # The request path
//
// [Metrics.Observe] takes one lock of the tenant and allocates nothing after a tenant's first request. All else is done when
// the numbers are read.
package telemetry
