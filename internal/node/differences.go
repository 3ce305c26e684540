package node

import (
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/lru"
	"github.com/wasmres/wasmres/internal/tenant"
)

// codeDiffers is the code of reports of calls that ended in another way on the other engine.
const codeDiffers = "engines_differ"

const (
	differenceEach = time.Hour // between entries of the ledger for one module of a tenant
	maxDifferences = 1000      // modules of tenants whose last entry is known
)

// A differing is a module of a tenant.
type differing struct{ tenant, digest string }

// differences bound how often the ledger has that calls of a module differ: a client chooses how often that happens.
type differences struct {
	mu    sync.Mutex
	noted *lru.Cache[differing, time.Time]
}

func newDifferences() *differences {
	return &differences{noted: lru.New(maxDifferences, func(differing, time.Time) int64 { return 1 })}
}

// note reports whether the ledger is to have an entry now for a module of a tenant.
func (d *differences) note(of differing, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last, ok := d.noted.Get(of); ok && now.Sub(last) < differenceEach {
		return false
	}
	d.noted.Put(of, now)
	return true
}

// differed notes that a call ended in another way on the other engine, and keeps its report. The report has what differs, and no
// contents; the call has a session if the tenant's file says that calls are recorded.
func (n *Node) differed(of tenant.ProviderID, d *app.Difference, keepURI bool) {
	n.metrics.EnginesDiffer()
	if n.differences.note(differing{of.Tenant, d.Digest}, time.Now()) {
		n.ledger.Note(ledger.Entry{
			Tenant: of.Tenant, Actor: "server", Action: "engines.differ", Object: of.Provider, After: d.Digest, Outcome: d.In,
		})
	}
	r := reportOf(of, &d.Fault, keepURI)
	r.Code, r.Reason = codeDiffers, d.In
	n.keepCrash(r, d.Session)
}
