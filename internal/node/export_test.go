package node

import (
	"context"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth"
)

// EntriesOf says what a change does.
var EntriesOf = entriesOf

// RecordAll writes entries into the ledger.
func (n *Node) RecordAll(ctx context.Context, all []ledger.Entry) error {
	return n.ledger.Append(ctx, all...)
}

// Differed notes that a call of a provider ended in another way on the other engine.
func (n *Node) Differed(of tenant.ProviderID, d *app.Difference, keepURI bool) {
	n.differed(of, d, keepURI)
}

// CheckClock looks at the clock, as a running server does each second.
func (n *Node) CheckClock() { n.checkClock() }

// Authenticator returns that of a tenant's clients.
func (n *Node) Authenticator(tenantID string) auth.Authenticator {
	return n.keys.Authenticator(tenantID)
}

// Uncounted makes a host of the same tenants which differs from that of the node in one thing: it counts, records and traces nothing of
// what they do. The caller closes it.
func (n *Node) Uncounted() (*host.Host, error) {
	s := n.cfg.Settings
	h, err := host.New(host.Config{
		MaxStreams: n.split.streams, Secret: n.seals.Secret, Clients: n.certs, Metadata: n.bearers.Metadata, Quotas: n.quotas, Runtime: n.engine,
		DataDir: s.Data, Module: n.cfg.Module, Given: n.cfg.Given, Blob: n.blob, AllowedHosts: allowedHosts(s), Processors: n.processors,
		Logs: n.guestLogs, Version: n.cfg.Version, Logger: n.cfg.Logger,
	})
	if err == nil {
		h.Update(n.store.Snapshot())
	}
	return h, err
}
