// Package nodebench has benchmarks of a server with thousands of tenants. They run the built program: docs/hosting.md lists
// their figures.
package nodebench
