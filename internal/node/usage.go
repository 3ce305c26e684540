package node

import (
	"context"

	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/telemetry"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/usage"
	"github.com/wasmres/wasmres/runtime"
)

// UsageFile is the name of the file in the data folder that has what tenants have used.
const UsageFile = "usage.db"

// meter counts what a provider uses that is being opened.
func (n *Node) meter(of tenant.ProviderID, version int, l *runtime.Live) host.Meter {
	live := func() (starts, memory uint64) {
		s := l.Stats()
		return s.Starts, bytesOf(s)
	}
	m := n.usage.Meter(usage.Key{Tenant: of.Tenant, Provider: of.Provider, Version: version}, live)
	used := func(u runtime.Usage) {
		n.metrics.Used(of.Tenant, u)
		m.Call(outcomeOf(u.Code.String()), u.Fuel, u.CPU, u.Bytes)
	}
	return host.Meter{Used: used, Close: m.Close}
}

// outcomeOf returns how a request or call has ended, by the code that the access log has.
func outcomeOf(code string) usage.Outcome {
	switch code {
	case "ok":
		return usage.OK
	case "429", "busy", "unavailable":
		return usage.Limited
	}
	if telemetry.IsFault(code) {
		return usage.Failed
	}
	return usage.Refused
}

// Usage reads what tenants have used until now.
func (n *Node) Usage(ctx context.Context, q usage.Query) ([]usage.Row, error) {
	return n.usage.Read(ctx, q)
}
