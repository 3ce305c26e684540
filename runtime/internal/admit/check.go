package admit

import (
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Config says what a module may contain and import.
type Config struct {
	// Limits bound the module itself.
	Limits limits.Module
	// MemoryPages is the most memory that a module may start with, in pages of 64 KiB. Zero means 1,024 (64 MiB);
	// values above 65,536 mean 65,536.
	MemoryPages uint32
	// Imports are the host functions. A module that imports anything else is refused; zero means none.
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

// A Report is what [Check] found in a module that it admits. It holds no view of the module.
type Report struct {
	// Exports has the exported functions by name. The caller checks whether they are those of the ABI.
	Exports map[string]abi.Signature
	// Memory says that [abi.ExportMemory] is exported, and is a memory.
	Memory bool
	// MemoryMin is how many pages of 64 KiB the memory starts with; MemoryMax is the declared maximum, which may exceed
	// the limit. Both are 0 without a memory, and MemoryMax without a declared maximum.
	MemoryMin, MemoryMax uint32
	// Frames has an upper estimate of the native stack each defined function takes, in bytes.
	Frames []uint32
	// Peaks has the highest value found for each limit.
	Peaks limits.Module
	// Instructions, Blocks (counted as Limits.Blocks), Loops and Calls are totals of all functions.
	Instructions, Blocks, Loops, Calls uint64
	// DataBytes is the bytes in data segments, CustomBytes those in custom sections.
	DataBytes, CustomBytes uint64
}

// Check reports why an engine must not load the module without its custom sections; the error is nil if it is valid,
// within cfg's limits, and imports only cfg.Imports. Errors are [abi.Error]s: [abi.CodeModule] for a malformed or
// invalid module, and, with a [*LimitError] inside, for one that exceeds a limit; [abi.CodeMemory] for a memory that
// starts too large; [abi.CodeIncompatible] for forbidden imports and exports.
//
// The module's bytes and Limits.Cost bound the work; the other limits bound allocation.
func Check(module []byte, cfg Config) (*Report, error) {
	return check(module, cfg, true)
}

// check is Check. Without boundary, imports and exports may be anything valid.
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
