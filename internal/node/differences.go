package node

import (
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/tenant"
)

// codeDiffers is the code of reports of calls that ended in another way on the other engine.
const codeDiffers = "engines_differ"

// differed notes that a call ended in another way on the other engine, and keeps the call as that of a crash.
func (n *Node) differed(of tenant.ProviderID, d *app.Difference, keepURI bool) {
	n.metrics.EnginesDiffer()
	n.ledger.Note(ledger.Entry{
		Tenant: of.Tenant, Actor: "server", Action: "engines.differ", Object: of.Provider, After: d.Digest, Outcome: d.In,
	})
	r := reportOf(of, &d.Fault, keepURI)
	r.Code, r.Reason = codeDiffers, d.In
	n.keepCrash(r, d.Session)
}
