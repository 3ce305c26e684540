package hostile

import (
	"slices"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A Row is a class of attacks. Each has its own defence, and at least one case: there is a test.
type Row string

// The rows.
const (
	RowUnstoppable Row = "unstoppable" // guest code in which the engine never looks at the deadline: call trees, bulk instructions
	RowCounts      Row = "counts"      // a count in the binary makes the host allocate before there is anything to count
	RowBoundary    Row = "boundary"    // types, imports and exports that the host would misunderstand
	RowSharing     Row = "sharing"     // one module loaded several times shares more than its machine code
	RowDebug       Row = "debug"       // names and debug sections, which the host reads when a guest traps
	RowCompile     Row = "compile"     // small modules that take minutes to compile
	RowTables      Row = "tables"      // tables are host memory that no limit of the engine covers
	RowStack       Row = "stack"       // recursion takes host memory beside that of the instance
	RowWASI        Row = "wasi"        // host functions that block, flood, or forge how the guest ended
	RowFiles       Row = "files"       // ways to files that are not granted
	RowLifecycle   Row = "lifecycle"   // instances that start, end or leak oddly
	RowResults     Row = "results"     // answers that are malformed, forged, or too many
	RowCalls       Row = "calls"       // host functions called without end
	RowMalformed   Row = "malformed"   // bytes that are no module, or one with features that are off
	RowState       Row = "state"       // one call leaves something for the next
	RowHeld        Row = "held"        // loops, memory and traps, which the engine can bound by itself
)

// Rows returns all rows.
func Rows() []Row {
	return []Row{
		RowUnstoppable, RowCounts, RowBoundary, RowSharing, RowDebug, RowCompile, RowTables, RowStack, RowWASI, RowFiles,
		RowLifecycle, RowResults, RowCalls, RowMalformed, RowState, RowHeld,
	}
}

// Limits a case runs with unless it says otherwise.
const (
	Memory  = 16 << 20
	Timeout = 100 * time.Millisecond
)

// A Case is one attack.
type Case struct {
	Name string // unique, for people and for go test -run
	Row  Row
	Why  string // what would happen without a defence

	// Modules makes the attack. Several are variants: each must end as Want says.
	Modules func() [][]byte
	Memory  uint64        // limit of an instance in bytes; 0 for [Memory]
	Timeout time.Duration // of a call; 0 for [Timeout]
	Loads   int           // how often each module is loaded, one load open beside the next; 0 means once
	Compile time.Duration // of a process of its own that compiles; 0 for none, where hardly anything is to be compiled

	// Op is asked of the loaded module, Times times one after the other by each of Parallel callers. OpDescribe, the
	// zero value: the module is only loaded. Zero numbers mean once.
	Op              abi.Op
	URI             string
	Times, Parallel int

	// Want are the codes, by their names, that loading or asking may end with. Most have one.
	Want []string
	// After is a URI that the same module must be able to read afterwards, each time. Empty if it cannot read any.
	After string
}

// LoadOnly reports whether a case ends with its loading, so that no guest should ever run.
func (c Case) LoadOnly() bool {
	return c.Op == abi.OpDescribe && c.Compile == 0 && c.Loads < 2 && c.isRefused()
}

func (c Case) isRefused() bool {
	return !slices.ContainsFunc(c.Want, func(code string) bool { return !slices.Contains(refused, code) })
}

// How attacks end. The names are those of abi.Code; it is here, and only here, that the corpus says which of them may
// stand for each other.
var (
	answered  = []string{"ok"}                                            // harmless: the attack got nothing, the guest an answer
	stopped   = []string{"deadline", "fuel"}                              // guest code without end: which runs out first is a matter of limits
	overflow  = []string{"stack"}                                         // recursion
	exhausted = []string{"memory"}                                        // more linear memory than the limit
	flooded   = []string{"host_calls", "deadline", "fuel"}                // host functions called without end
	trapped   = []string{"trap"}                                          // a crash of the guest's own
	exited    = []string{"exit"}                                          // proc_exit, with whatever status
	malformed = []string{"module"}                                        // not a module, or one with features that are off
	excessive = []string{"module", "too_large"}                           // a module over a cap
	misfit    = []string{"incompatible"}                                  // imports or exports that are not those of the ABI
	foreign   = []string{"module", "incompatible"}                        // malformed and misfit at once, as a table that is imported
	refused   = []string{"module", "incompatible", "too_large", "memory"} // all that loading ends with, when no guest has run
)

// either joins sets of codes.
func either(sets ...[]string) []string { return slices.Concat(sets...) }

// Cases is the catalogue.
func Cases() []Case {
	return slices.Concat(
		unstoppable(), counts(), boundary(), sharing(), debugSections(), compileBombs(), tables(), stack(), wasiAbuse(),
		files(), lifecycle(), afterStop(), results(), floods(), looks(), malformedBytes(), state(), held(),
	)
}
