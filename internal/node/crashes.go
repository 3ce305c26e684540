package node

import (
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/crashes"
	"github.com/wasmres/wasmres/internal/tenant"
)

// crashed keeps the report of a crash.
func (n *Node) crashed(of tenant.ProviderID, f *app.Fault, keepURI bool) {
	n.keepCrash(reportOf(of, f, keepURI), f.Session)
}

// reportOf describes a fault.
func reportOf(of tenant.ProviderID, f *app.Fault, keepURI bool) crashes.Report {
	r := crashes.Report{
		Tenant: of.Tenant, Provider: of.Provider, Digest: f.Digest, Code: f.Code.String(), Reason: f.Reason, Op: f.Op.String(),
		Lines: f.LastLines, Fuel: f.Fuel, Memory: f.Memory,
	}
	for _, frame := range f.Stack {
		r.Stack = append(r.Stack, crashes.Frame{Function: frame.Function, Name: frame.Name})
	}
	if keepURI {
		r.URI = f.URI
	}
	return r
}
