package runtime

import (
	"time"

	"github.com/wasmres/wasmres/runtime/internal/worker/live"
)

// A Live bounds the worker processes of some providers: those of a Host, by HostConfig.Live, or of one tenant, by
// Options.Live. While it is full, a provider that needs a process has the one stopped that was not called for longest; if
// all are in use, its call waits until its deadline. Then it fails with abi.CodeUnavailable, says what is full, and when to
// retry. A process with guest state that outlives a call counts as in use for Limits.Idle. Calls that wait have their turn
// in order.
//
// Where several Lives, as those of tenants, are bounded together, each has an equal share. A provider of one that would exceed it
// has processes of its own Live stopped, then those of Lives with more than their shares, or any that was not called for 30 seconds, and
// others start before it. With [WithOwner], each owner has a share of HostConfig.Live rather than each Live.
//
// A Live is safe for concurrent use, on several Hosts as well. It needs no closing.
type Live struct{ group *live.Group }

// LiveConfig bounds a Live. Zero fields bound nothing.
type LiveConfig struct {
	// Max is how many processes may run or start at once. Standby processes are not counted.
	Max int
	// Memory is how much memory of their own the processes may use before another starts, in bytes, by figures that may be a
	// second old, with 1 MiB for each that the system has for it. It does not bound how much they use later. One process may
	// always start. For a Host, what it opens and compiles counts.
	Memory int64
	// StartsPerMinute is how many processes may start in a minute, in the long run. As many may start at once after a minute
	// without starts.
	StartsPerMinute int
	// Within is a Live whose bounds hold as well, so that one of several can be counted by itself. Set does not change it.
	Within *Live
	// Connections give the processes the files that they need open; nil for those that clients do not have. Set does not change it.
	Connections *Connections

	// OnStart receives how long each start took, from the beginning of the process. cold says that the provider had been
	// stopped, and a call waited for the start. OnEnd receives why a process that was ready has ended. Many goroutines call
	// both at once. They must not block. Nil discards.
	OnStart func(took time.Duration, cold bool)
	OnEnd   func(why LiveEnd)
}

// A LiveEnd says why a process has ended.
type LiveEnd string

// The ends of processes.
const (
	EndIdle    LiveEnd = LiveEnd(live.Idle)    // it was not called for HostConfig.Idle
	EndEvicted LiveEnd = LiveEnd(live.Evicted) // another provider needed its place
	EndCrashed LiveEnd = LiveEnd(live.Crashed) // it ended by itself, or was killed
	EndClosed  LiveEnd = LiveEnd(live.Closed)  // its provider was closed
)

// LiveStats counts the processes of a Live.
type LiveStats struct {
	Live, Starting, Waiting int           // processes that run, and that start; starts that wait, now
	Starts, Ends, Evictions uint64        // processes that became ready; those of them that ended; those that were stopped for another
	StartTime               time.Duration // of all starts together
	LastStart               time.Time     // when a process became ready last; zero for never
	Memory                  int64         // bytes of their own that the processes use, by figures that may be a second old
	LiveTime                time.Duration // of all processes that became ready, until now
	// MemoryTime is the memory of their own that processes have used, times for how long, in byte-seconds. It is looked at whenever
	// Stats is called, and counts for the time since then; with the most that a process ever used, if that has ended meanwhile.
	MemoryTime uint64
}

// NewLive makes a Live. It fails if a bound is negative.
func NewLive(cfg LiveConfig) (*Live, error) {
	group, err := live.New(cfg.inner())
	if err != nil {
		return nil, err
	}
	return &Live{group}, nil
}

// Set replaces the bounds and the receivers. Processes beyond the new bounds go on until they are unused and another
// provider wants to start. It fails, and changes nothing, if a bound is negative.
func (l *Live) Set(cfg LiveConfig) error { return l.group.Set(cfg.inner()) }

// Stats returns the counts.
func (l *Live) Stats() LiveStats {
	s := l.group.Stats()
	return LiveStats{
		Live: s.Live, Starting: s.Starting, Waiting: s.Waiting, Starts: s.Starts, Ends: s.Ends, Evictions: s.Evictions,
		StartTime: s.StartTime, LastStart: s.LastStart, Memory: s.Memory, LiveTime: s.LiveTime, MemoryTime: s.MemoryTime,
	}
}

// Stop stops the processes that no call uses, and whose guest state does not outlive one, and returns how many. The next call of a
// provider starts its process again. Stop does not wait for their ends.
func (l *Live) Stop() int { return l.group.Stop() }

// TakePeak returns the most memory of its own that one process has used since TakePeak was called last, in bytes: of processes that
// run, as it was whenever it was looked at; of those that have ended, the most ever.
func (l *Live) TakePeak() int64 { return l.group.TakePeak() }

func (cfg LiveConfig) inner() live.Config {
	inner := live.Config{
		Max: cfg.Max, Memory: cfg.Memory, StartsPerMinute: cfg.StartsPerMinute, OnStart: cfg.OnStart,
		Within: groupOf(cfg.Within),
	}
	if cfg.Connections != nil {
		inner.Files = cfg.Connections
	}
	if cfg.OnEnd != nil {
		inner.OnEnd = func(why live.End) { cfg.OnEnd(LiveEnd(why)) }
	}
	return inner
}

// groupOf returns the group of a Live, which may be nil.
func groupOf(l *Live) *live.Group {
	if l == nil {
		return nil
	}
	return l.group
}
