package admit

import (
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Config says what a module may have and what it may ask for.
type Config struct {
	// Limits bound the module itself.
	Limits limits.Module
	// MemoryPages is the memory a module may start with, in pages of 64 KiB. Zero is 1,024 (64 MiB); more than 65,536
	// is that.
	MemoryPages uint32
	// Imports are the host functions there are. A module that imports anything else is refused; zero is none.
	Imports []Import
}

// An Import is a host function a module may import.
type Import struct {
	Module, Name string
	Type         abi.Signature
}

const (
	defaultMemoryPages = 1_024
	maxMemoryPages     = 65_536
)

// A Report is what [Check] found out about a module that it admits. It holds no view of the module.
type Report struct {
	// Exports has the exported functions. Whether they are what this ABI expects is the caller's question.
	Exports map[string]abi.Signature
	// Memory says that [abi.ExportMemory] is exported, and is a memory.
	Memory bool
	// MemoryMin is the pages of 64 KiB the module's memory starts with, MemoryMax what it states as its most, which may
	// be more than the limit. Both are 0 without a memory, MemoryMax also when the module states none.
	MemoryMin, MemoryMax uint32
	// Frames has an upper estimate of the native stack each defined function takes, in bytes.
	Frames []uint32
	// Peaks is the most that was found of what each limit bounds.
	Peaks limits.Module
	// Instructions, Blocks (as Limits.Blocks counts them), Loops and Calls are those of all functions.
	Instructions, Blocks, Loops, Calls uint64
	// DataBytes is the bytes in data segments, CustomBytes those in custom sections.
	DataBytes, CustomBytes uint64
}

// Check decides whether an engine may see module, custom sections taken out: whether it is valid, within cfg's limits,
// and asks only for what cfg offers. Its errors are [abi.Error]s: [abi.CodeModule] for what is malformed, invalid or,
// with a [*LimitError] inside, too much; [abi.CodeMemory] for a memory that starts too large; [abi.CodeIncompatible] for
// imports and exports that must not be.
//
// The work is bounded by the module's bytes and by Limits.Cost, and what is allocated by the other limits.
func Check(module []byte, cfg Config) (*Report, error) {
	return check(module, cfg, true)
}

// check is Check; without boundary, what a module imports and exports may be anything valid.
func check(module []byte, cfg Config, boundary bool) (*Report, error) {
	c := newChecker(cfg, boundary)
	c.checkLimit(boundModule, uint64(len(module)))
	for s, err := range wasm.Sections(module) {
		if err != nil {
			c.fail(malformed(err))
		}
		if c.err != nil {
			return nil, c.err
		}
		c.section(s)
	}
	c.finish()
	if c.err != nil {
		return nil, c.err
	}
	for b, count := range c.report.Peaks.Counts() {
		*count.Value = uint32(c.peak[b])
	}
	c.report.Peaks.Cost = time.Duration(c.cost)
	return c.report, nil
}

func malformed(err error) error { return abi.Errorf(abi.CodeModule, "%v", err).Because(err) }
