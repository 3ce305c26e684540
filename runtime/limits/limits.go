// Package limits has what a provider may use, and what a call has used.
package limits

import (
	"fmt"
	"runtime"
	"time"
)

// Limits bound what one provider may use. Zero fields take the default; there is no way to say unlimited.
type Limits struct {
	// Memory is the linear memory of one instance, in bytes, a multiple of 64 KiB. Default 64 MiB, at most 4 GiB.
	// Exceeded: memory.grow fails, and if the guest fails then, abi.CodeMemory.
	Memory uint64
	// Fuel is the instructions of one call, and of starting an instance, as they are metered: see package meter. The
	// same module spends the same on the same input. Default 1,000,000,000,000. Exceeded: abi.CodeFuel.
	Fuel uint64
	// Timeout is the wall-clock time of one call, host calls included, and of starting an instance. Default 2 s.
	// Exceeded: abi.CodeDeadline.
	Timeout time.Duration
	// MilliCPU is the thousandths of a processor that calls may use, all together and in the long run: 1,500 for one and
	// a half. The time of services and of slow readers is not counted. 0 means no bound. Exceeded: further calls wait for
	// as long as Timeout; then they are abi.CodeBusy.
	MilliCPU uint32
	// Wait is how long slow readers of one call's answer may keep it waiting, in all. That time is not
	// counted as Timeout. At most half of Calls may be kept waiting for more than a second. Default 60 s. Exceeded:
	// abi.CodeDeadline; of too many, abi.CodeBusy.
	Wait time.Duration
	// Stack is the native stack of one call, in bytes, as it is estimated from the functions that are active.
	// Default 8 MiB, at most 32 MiB. The estimate is an upper one: large functions of Go take a tenth of it.
	// Exceeded: abi.CodeStack.
	Stack uint32
	// Table is the entries of one table. Default 100,000, at most 10,000,000. Exceeded: a module that starts with more
	// is abi.CodeModule; later, table.grow fails.
	Table uint32
	// Output is the bytes the contents of one read have in all, before encoding; as many again may be what else one
	// call emits, as the entries of a list. A manifest has a bound of its own. Default 64 MiB.
	// Exceeded: abi.CodeTooLarge.
	Output uint64
	// Items is the entries of one list page. Default 10,000. Exceeded: abi.CodeTooMany.
	Items int
	// Log is the bytes a guest may log in one call, standard output and error included, where each line counts 64 more
	// than its text. Default 64 KiB. What exceeds it is dropped, and said once with abi.CodeLogLimit.
	Log int
	// LogLines is the lines a guest may log in one call. Default 500. Exceeded: as Log.
	LogLines int
	// HostCalls is how often one call may call the host. Default 1,000,000. Exceeded: abi.CodeHostCalls.
	HostCalls int
	// Calls is how many calls may run at once; more wait for as long as Timeout. Default 4 for each processor, at
	// most 10,000. Exceeded: abi.CodeBusy.
	Calls int
	// Sessions is how many sessions a provider of abi.LifecycleSession keeps. Default 100, at most 10,000. Exceeded:
	// the one unused for longest starts anew; when all are in use, abi.CodeBusy.
	Sessions int
	// Idle is how long an instance, or a session, is kept unused. Default 5 min, at least 1 s.
	Idle time.Duration
}

// The greatest values that are possible, in bytes.
const (
	MaxMemory = 4 << 30 // all that 32 bits can address
	MaxStack  = 32 << 20
)

// The defaults of Limits.
const (
	DefaultMemory    = 64 << 20
	DefaultFuel      = 1_000_000_000_000
	DefaultTimeout   = 2 * time.Second
	DefaultWait      = time.Minute
	DefaultStack     = 8 << 20
	DefaultTable     = 100_000
	DefaultOutput    = 64 << 20
	DefaultItems     = 10_000
	DefaultLog       = 64 << 10
	DefaultLogLines  = 500
	DefaultHostCalls = 1_000_000
	DefaultSessions  = 100
	DefaultIdle      = 5 * time.Minute
)

const (
	pageSize    = 64 << 10
	maxTable    = 10_000_000
	maxCalls    = 10_000
	maxSessions = 10_000 // of which each takes two of the 65,530 mappings a process has by default
	minIdle     = time.Second
	maxFuel     = 1 << 62
)

// WithDefaults fills the zero fields and checks the others.
func (l Limits) WithDefaults() (Limits, error) {
	setDefault(&l.Memory, DefaultMemory)
	setDefault(&l.Fuel, DefaultFuel)
	setDefault(&l.Timeout, DefaultTimeout)
	setDefault(&l.Wait, DefaultWait)
	setDefault(&l.Stack, DefaultStack)
	setDefault(&l.Table, DefaultTable)
	setDefault(&l.Output, DefaultOutput)
	setDefault(&l.Items, DefaultItems)
	setDefault(&l.Log, DefaultLog)
	setDefault(&l.LogLines, DefaultLogLines)
	setDefault(&l.HostCalls, DefaultHostCalls)
	setDefault(&l.Calls, 4*runtime.GOMAXPROCS(0))
	setDefault(&l.Sessions, DefaultSessions)
	setDefault(&l.Idle, DefaultIdle)
	return l, l.check()
}

func (l Limits) check() error {
	switch {
	case l.Memory%pageSize != 0 || l.Memory > MaxMemory:
		return fmt.Errorf("memory limit of %d bytes: it must be a multiple of 64 KiB of at most 4 GiB", l.Memory)
	case l.Timeout < 0 || l.Wait < 0:
		return fmt.Errorf("timeout %v or wait %v is negative", l.Timeout, l.Wait)
	case l.Idle < minIdle:
		return fmt.Errorf("instances must be kept idle for at least %v, not %v", minIdle, l.Idle)
	case l.Items < 0 || l.Log < 0 || l.LogLines < 0 || l.HostCalls < 0 || l.Calls < 0 || l.Sessions < 0:
		return fmt.Errorf("limits must not be negative: items %d, log %d, log lines %d, host calls %d, calls %d, sessions %d",
			l.Items, l.Log, l.LogLines, l.HostCalls, l.Calls, l.Sessions)
	}
	for _, most := range []struct {
		name          string
		value, atMost uint64
	}{
		{"fuel", l.Fuel, maxFuel}, {"stack bytes", uint64(l.Stack), MaxStack}, {"table entries", uint64(l.Table), maxTable},
		{"calls at once", uint64(l.Calls), maxCalls}, {"sessions", uint64(l.Sessions), maxSessions},
	} {
		if most.value > most.atMost {
			return fmt.Errorf("limit of %d %s: it must be at most %d", most.value, most.name, most.atMost)
		}
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Pages returns Memory in pages of WebAssembly.
func (l Limits) Pages() uint32 { return uint32(l.Memory / pageSize) }
