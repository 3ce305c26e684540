// Package hosttest sizes the tests of what a server of tenants survives: memory that runs out, tenants that want more than their share,
// and disasters. They stand beside the code that they test, and run small in make check. make soak runs them whole.
//
//	processes that write are killed        tenant/store, ledger, blobs: Killed
//	half of a server's workers are killed   node: WorkersAreKilled
//	many tenants wake at once               node: TenantsWake
//	weights of tenants                      node: Weights
//	memory of a control group is exceeded   cmd/wasmres: OfAGroup, InAFullGroup
package hosttest

import "os"

// Size returns small, or whole if the environment variable WASMRES_SOAK is set.
func Size(small, whole int) int {
	if os.Getenv("WASMRES_SOAK") != "" {
		return whole
	}
	return small
}
