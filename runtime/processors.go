package runtime

import (
	"cmp"
	goruntime "runtime"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/fair"
)

// A Processors shares the processors of this machine among the calls of several owners, as the tenants of a server, by weight. Calls
// begin at once while fewer than ProcessorsConfig.Calls run. Otherwise they wait, and the owner is served next whose providers have
// used the least processor time for its weight. A call that computes for long is paused while an owner waits that is behind; in
// process it is not. A call that waits for a database, for another server or for its client does not count as one that runs.
//
// Processor time is that of the worker processes, as the system counts it, and includes their starts. An owner also pays for the
// checking, metering and compiling of its modules; of a module that several owners open at once, the first pays. An owner that was idle gains
// nothing by that. A Processors is safe for concurrent use, on several Hosts as well. It needs no closing.
type Processors struct{ queue *fair.Queue }

// ProcessorsConfig configures a Processors. Zero fields take the defaults.
type ProcessorsConfig struct {
	Calls int // that run at once; default: twice as many as there are processors
	// Waiting and WaitingOfShare are how many calls may wait at once, in all and of one Share; default 4,096 and 64. A call beyond
	// that fails with abi.CodeBusy and the time to retry after. So does one that has waited for Limits.Timeout.
	Waiting, WaitingOfShare int
	// OnWait receives how long each call has waited that had to. Many goroutines call it at once. It must not block. Nil discards.
	OnWait func(time.Duration)
}

// ProcessorsStats counts calls.
type ProcessorsStats struct {
	Calls, Running, Waiting int // that may run at once; that run; that wait
}

// callsPerProcessor is how many calls run at once for each processor. More than one, since a call holds its place while its request
// and its answer are between two processes. Not more than that takes: calls that run compete by the kernel's rules, which know no
// weights, and in process none can be paused. HostingFair and HostingLight of internal/node/nodebench, with 1, 2 and 4 on two
// processors: weights 1:3 got 74.6 to 75.6 % with each, a call of 20 ms took as much processor time, and the p99 of short calls
// beside long ones differed less between the numbers than between runs.
const callsPerProcessor = 2

// NewProcessors makes a Processors. It fails if a number is negative, or Calls is above 4,096.
func NewProcessors(cfg ProcessorsConfig) (*Processors, error) {
	queue, err := fair.New(fair.Config{
		Slots: cmp.Or(cfg.Calls, callsPerProcessor*goruntime.GOMAXPROCS(0)), MaxWaiting: cfg.Waiting, MaxWaitingOfShare: cfg.WaitingOfShare, Waited: cfg.OnWait,
	})
	if err != nil {
		return nil, err
	}
	return &Processors{queue}, nil
}

// Stats returns the counts.
func (p *Processors) Stats() ProcessorsStats {
	s := p.queue.Stats()
	return ProcessorsStats{Calls: s.Slots, Running: s.Running, Waiting: s.Waiting}
}

// A Share is that of one owner. It is safe for concurrent use. It needs no closing.
type Share struct{ inner *fair.Share }

// NewShare makes a share with a weight of 1 to 1,000; other weights count as the nearest one.
func (p *Processors) NewShare(weight int) *Share { return &Share{p.queue.NewShare(weight)} }

// SetWeight sets the weight from now on.
func (s *Share) SetWeight(weight int) { s.inner.SetWeight(weight) }

// Waiting returns how many calls of the share wait.
func (s *Share) Waiting() int { return s.inner.Waiting() }

// Charged returns the processor time of starts, and of checking, metering and compiling modules, that the share has paid for.
func (s *Share) Charged() time.Duration { return s.inner.Charged() }

// shareOf returns the share of a provider; nil for none.
func (s *Share) shareOf() *fair.Share {
	if s == nil {
		return nil
	}
	return s.inner
}
