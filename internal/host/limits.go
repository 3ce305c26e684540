package host

import (
	"cmp"
	"math"

	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// limitsOf returns the limits of a provider: those of its policy, and at most those of the plan.
func limitsOf(p *tenant.Provider, plan *tenant.Plan) runtime.Limits {
	own, most := &p.Policy.Limits, &plan.Limits
	return runtime.Limits{
		MilliCPU: least(own.MilliCPU, most.MilliCPU), Memory: least(own.Memory, most.Memory), Fuel: least(own.Fuel, most.Fuel),
		Timeout: least(own.Timeout, most.Timeout), Output: least(own.Output, most.Output),
		Stack: uint32(min(least(own.Stack, most.Stack), math.MaxUint32)), Log: int(min(least(own.Log, most.Log), math.MaxInt32)),
	}
}

// least returns the smaller of two limits; zero is none.
func least[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}
