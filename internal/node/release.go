package node

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/internal/crashes"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/store"
	"github.com/wasmres/wasmres/internal/usage"
)

// Check reads what Open would, while another process has the store open: the store and the files of tenants. It writes nothing.
func Check(ctx context.Context, s *tenant.Settings) error {
	snapshot, err := store.Read(ctx, s.Data)
	if err != nil || snapshot == nil {
		return err
	}
	var reader tenant.Reader
	_, err = reader.ReadTenants(s, snapshot)
	return err
}

// Release writes what is left, and closes the files that one process may have open, so that another process can open them. The
// node goes on to answer clients; whatever would change what it serves fails with [tenant.ErrClosed]. By ctx the record knows who
// has asked for it. It is idempotent.
func (n *Node) Release(ctx context.Context) error {
	n.releaseOnce.Do(func() {
		n.reloading.Lock() // a reading under way has ended, and no other begins
		n.released.Store(true)
		n.reloading.Unlock()
		n.stopWriters()
		n.writers.Wait()
		cause := ledger.CauseOf(ctx)
		n.releaseErr = n.closeFiles(ledger.Entry{Actor: cause.Actor, Via: cause.Via, Action: "server.handover"})
	})
	return n.releaseErr
}

// closeFiles writes what is left, with a last entry of the ledger, and closes the files that one process may have open.
func (n *Node) closeFiles(last ledger.Entry) error {
	var errs []error
	if n.deployer != nil {
		errs = append(errs, n.deployer.Close())
	}
	if n.crashes != nil {
		errs = append(errs, n.crashes.Close())
	}
	if n.usage != nil {
		errs = append(errs, n.usage.Close())
	}
	if n.quotas != nil {
		errs = append(errs, n.quotas.Close())
	}
	if n.clock != nil {
		n.checkClock()
		errs = append(errs, n.clock.keep())
	}
	if n.ledger != nil {
		n.noteRefused()
		n.ledger.Note(last)
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	if n.ledger != nil {
		errs = append(errs, n.ledger.Close())
	}
	return errors.Join(errs...)
}

// Left is what a node that was released has counted and noted since, for the node of another process.
type Left struct {
	Usage   []usage.Left     `json:"usage,omitempty"`
	Quotas  quota.Left       `json:"quotas"`
	Ledger  []ledger.Entry   `json:"ledger,omitempty"`
	Crashes []crashes.Report `json:"crashes,omitempty"` // without recorded sessions
}

// Left returns what was counted since Release. The node must be closed.
func (n *Node) Left() Left {
	n.crashedMu.Lock()
	defer n.crashedMu.Unlock()
	return Left{Usage: n.usage.Left(), Quotas: n.quotas.Left(), Ledger: n.ledger.Left(), Crashes: n.crashedLate}
}

// Add counts and notes what another node has left.
func (n *Node) Add(l Left) {
	n.usage.Add(l.Usage)
	n.quotas.Add(l.Quotas)
	for _, e := range l.Ledger {
		n.ledger.Note(e)
	}
	for _, r := range l.Crashes {
		n.crashes.Add(r, nil)
	}
}

// maxCrashedLate bounds how many crashes a node keeps for another one.
const maxCrashedLate = 100

// keepCrash keeps the report of a crash, or leaves it for another node.
func (n *Node) keepCrash(r crashes.Report, session crashes.Maker) {
	if !n.released.Load() {
		n.crashes.Add(r, session)
		return
	}
	n.crashedMu.Lock()
	defer n.crashedMu.Unlock()
	if len(n.crashedLate) < maxCrashedLate {
		n.crashedLate = append(n.crashedLate, r)
	}
}

// asWriter runs what writes into the files of the node, until ctx ends or the node is released.
func (n *Node) asWriter(ctx context.Context, write func(context.Context)) {
	n.reloading.Lock() // so that none begins when Release waits for them
	if n.released.Load() {
		n.reloading.Unlock()
		return
	}
	n.writers.Add(1)
	n.reloading.Unlock()
	defer n.writers.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.writing, cancel)()
	write(ctx)
}
