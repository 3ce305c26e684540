package node

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/ledger"
)

const (
	refusedPeriod = time.Minute
	maxRefused    = 1000 // tenants and addresses that are counted apart within a minute
)

// refused counts bad credentials of clients and operators, for an entry in the ledger for each tenant and address in a minute.
type refused struct {
	mu     sync.Mutex
	counts map[stranger]int
	others int // beyond maxRefused
}

// A stranger is an address that has asked a tenant, or the operators' side.
type stranger struct {
	tenant  string // empty for the operators' side
	address netip.Addr
}

// addAdmin counts a bad credential at the operators' side.
func (r *refused) addAdmin(from netip.Addr) { r.add("", from) }

// add counts a bad credential for a tenant.
func (r *refused) add(tenantID string, from netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	who := stranger{tenantID, from}
	if _, known := r.counts[who]; !known && len(r.counts) >= maxRefused {
		r.others++
		return
	}
	if r.counts == nil {
		r.counts = map[stranger]int{}
	}
	r.counts[who]++
}

// entries returns an entry for each stranger since the last call.
func (r *refused) entries() (all []ledger.Entry) {
	r.mu.Lock()
	counts, others := r.counts, r.others
	r.counts, r.others = nil, 0
	r.mu.Unlock()
	byName := func(a, b stranger) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), a.address.Compare(b.address))
	}
	entry := func(tenantID, action, actor string, n int) ledger.Entry {
		return ledger.Entry{Actor: actor, Tenant: tenantID, Action: action, After: fmt.Sprintf("%d requests within a minute", n)}
	}
	for _, who := range slices.SortedFunc(maps.Keys(counts), byName) {
		action := "credential.refuse"
		if who.tenant == "" {
			action = "adminkey.refuse"
		}
		all = append(all, entry(who.tenant, action, who.address.String(), counts[who]))
	}
	if others > 0 {
		all = append(all, entry("", "credential.refuse", "other addresses", others))
	}
	return all
}

// recordRefused notes refused credentials each minute, until ctx ends.
func (n *Node) recordRefused(ctx context.Context) {
	tick := time.NewTicker(refusedPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			n.noteRefused()
			return
		case <-tick.C:
			n.noteRefused()
		}
	}
}

func (n *Node) noteRefused() {
	for _, e := range n.refused.entries() {
		n.ledger.Note(e)
	}
}
