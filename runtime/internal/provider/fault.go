package provider

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/limits"
)

// A Fault is a call that failed because of the guest: it trapped, or violated the ABI or a limit.
type Fault struct {
	Digest  string       // of the module, as in "sha256:9f86…"
	Request *abi.Request // not to be changed
	Used    limits.Usage
	Err     error       // with the code of Used
	Crash   *abi.Crash  // where the guest was; nil if it is not known
	Record  *CallRecord // nil unless calls are recorded
}

// A CallRecord has all by which a call came to its end, so that [Provider.Replay] brings it there again.
type CallRecord struct {
	Clock    guest.Clock // under which the guest started
	Origin   guest.Origin
	Limits   limits.Limits
	Services []abi.Service    // that were granted
	Start    []guest.Exchange // while the guest started
	Call     []guest.Exchange // in the call
	Inexact  string           // why a replay may end elsewhere; empty if it does not
}

// A Replay is a recorded call that is to run again. The provider must have its Clock and its Limits.
type Replay struct {
	Op      abi.Op
	Request *abi.Request
	Origin  guest.Origin
}

// isFault reports whether an error is that of a guest, and of its run alone: what is wrong with a text, clients are told too.
func isFault(err error) bool {
	switch abi.CodeOf(err) {
	case abi.CodeTrap, abi.CodeProtocol, abi.CodeMemory, abi.CodeTooMany, abi.CodeInvalidURI, abi.CodeFuel,
		abi.CodeDeadline, abi.CodeStack, abi.CodeExit, abi.CodeHostCalls:
		return true
	}
	return false
}

// tellFault reports a call that failed because of the guest. used is what the call has used.
func (p *Provider) tellFault(ctx context.Context, c *guest.Call, err error, used limits.Usage) {
	f := p.faultOf(c, err, used)
	if !p.cfg.Record {
		f.Record = nil
	}
	p.cfg.OnFault(ctx, f)
}

// faultOf describes a call that has ended, with its record if calls have records.
func (p *Provider) faultOf(c *guest.Call, err error, used limits.Usage) *Fault {
	req := *c.Request // a fault may be kept for long, and a call has much else
	f := &Fault{Digest: p.host.Module.Digest, Request: &req, Used: used, Err: err, Crash: abi.CrashOf(err)}
	if p.cfg.hasRecords() {
		f.Record = p.recordOf(c, f)
	}
	return f
}

// hasRecords reports whether calls have records.
func (cfg *Config) hasRecords() bool { return cfg.Record || cfg.Compare != nil }

// recordOf returns the record of a call that has ended.
func (p *Provider) recordOf(c *guest.Call, f *Fault) *CallRecord {
	r := &CallRecord{Clock: *p.cfg.Clock, Origin: c.Origin(), Limits: p.cfg.Limits}
	for id := range p.cfg.Services {
		r.Services = append(r.Services, id)
	}
	call, start := c.Tapes()
	if call != nil {
		r.Call = call.Exchanges
	}
	if start != nil {
		r.Start = start.Exchanges
	}
	if f.Used.Code == abi.CodeDeadline {
		r.Origin.Stop = &guest.Point{Fuel: f.Used.Fuel, HostCalls: f.Used.HostCalls}
	}
	switch {
	case f.Used.Fuel == 0:
		r.Inexact = "the host does not know where the guest was: it was starting, or its process was killed"
	case c.IsInterrupted():
		r.Inexact = "the host found the fault while the guest ran on"
	case p.host.Lifecycle() != abi.LifecycleFresh:
		r.Inexact = "the guest had state of earlier calls, which is not recorded"
	case call == nil || call.Cut || start != nil && start.Cut:
		r.Inexact = "the services answered with more than is recorded of one call"
	}
	return r
}

// Replay runs a recorded call again, and returns how it ended. It has a minute at least, for a machine that is slower. Contents
// are discarded.
func (p *Provider) Replay(ctx context.Context, r *Replay) (*abi.Reply, limits.Usage, error) {
	origin := r.Origin
	origin.Patient = true
	return p.run(ctx, r.Op, r.Request, discard{}, &origin)
}

// discard is a sink of a client that is not there.
type discard struct{}

func (discard) Content(*abi.Content) error { return nil }
func (discard) Body([]byte) error          { return nil }
func (discard) Progress(abi.Progress)      {}

// setClock gives guests whose calls are recorded a clock, unless they have one. Under a clock that they have, calls that are compared
// see what they would see otherwise.
func (cfg *Config) setClock() {
	cfg.ownClock = cfg.Clock == nil || cfg.Record
	if cfg.hasRecords() && cfg.Clock == nil {
		cfg.Clock = &guest.Clock{Time: time.Now(), Seed: rand.Uint64()}
	}
}
