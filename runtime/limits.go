package runtime

import (
	"fmt"
	goruntime "runtime"
	"time"

	"github.com/wasmres/wasmres/runtime/engine"
)

// Limits bound what one provider may use. Zero fields take the default; there is no way to say unlimited.
type Limits struct {
	// Memory is the linear memory of one instance, in bytes, a multiple of 64 KiB. Default 64 MiB, at most 4 GiB.
	// Exceeded: abi.CodeMemory.
	Memory uint64
	// Timeout is the wall-clock time of one call, initialisation and host calls included. Default 2 s.
	// Exceeded: abi.CodeDeadline.
	Timeout time.Duration
	// Output is the bytes the contents of one read have in all, before encoding; as many again may be what else one
	// call emits, as the entries of a list. Default 64 MiB.
	// Exceeded: abi.CodeTooLarge.
	Output uint64
	// Items is the entries of one list page. Default 10,000. Exceeded: abi.CodeTooMany.
	Items int
	// Log is the bytes a guest may log in one call, standard output and error included, where each line counts 64 more
	// than its text. Default 64 KiB. What exceeds it is dropped, and said once with abi.CodeLogLimit.
	Log int
	// Calls is how many calls may run at once; more wait for as long as Timeout. Default 4 for each processor, at
	// most 10,000. Exceeded: abi.CodeBusy.
	Calls int
}

// The defaults of Limits.
const (
	DefaultMemory  = 64 << 20
	DefaultTimeout = 2 * time.Second
	DefaultOutput  = 64 << 20
	DefaultItems   = 10_000
	DefaultLog     = 64 << 10
)

const (
	maxMemory = 4 << 30
	maxCalls  = 10_000
)

// WithDefaults fills the zero fields and checks the others.
func (l Limits) WithDefaults() (Limits, error) {
	setDefault(&l.Memory, DefaultMemory)
	setDefault(&l.Timeout, DefaultTimeout)
	setDefault(&l.Output, DefaultOutput)
	setDefault(&l.Items, DefaultItems)
	setDefault(&l.Log, DefaultLog)
	setDefault(&l.Calls, 4*goruntime.GOMAXPROCS(0))
	switch {
	case l.Memory%engine.PageSize != 0 || l.Memory > maxMemory:
		return l, fmt.Errorf("memory limit of %d bytes: it must be a multiple of 64 KiB of at most 4 GiB", l.Memory)
	case l.Timeout < 0:
		return l, fmt.Errorf("timeout %v is negative", l.Timeout)
	case l.Items < 0 || l.Log < 0 || l.Calls < 0:
		return l, fmt.Errorf("limits must not be negative: items %d, log %d, calls %d", l.Items, l.Log, l.Calls)
	case l.Calls > maxCalls:
		return l, fmt.Errorf("limit of %d calls at once: it must be at most %d", l.Calls, maxCalls)
	}
	return l, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (l Limits) pages() uint32 { return uint32(l.Memory / engine.PageSize) }
