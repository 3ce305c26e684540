package admit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Limits bound what one module may have. Zero fields take the default; there is no way to say unlimited. The defaults
// admit every program we could find, with room: esbuild, SQLite and large Go programs among them.
type Limits struct {
	// Module is the bytes of the module. Default 32 MiB.
	Module uint32
	// Customs is the custom sections. Default 1,000.
	Customs uint32
	// Types is the function types. Default 4,000.
	Types uint32
	// Params is the parameters of one type. Default 64.
	Params uint32
	// Results is the results of one type. Default 16.
	Results uint32
	// Imports is the imports. Default 256.
	Imports uint32
	// Functions is the functions defined. Default 50,000.
	Functions uint32
	// Tables is the tables. Default 4.
	Tables uint32
	// TableEntries is the entries one table starts with. Default 100,000.
	TableEntries uint32
	// Globals is the globals. Default 4,000.
	Globals uint32
	// Exports is the exports. Default 4,000.
	Exports uint32
	// Name is the bytes of the name of an import or export. Default 256.
	Name uint32
	// ElementSegments is the element segments. Default 4,000.
	ElementSegments uint32
	// Elements is the entries of all element segments. Default 100,000.
	Elements uint32
	// DataSegments is the data segments. Default 200,000: Go has one for each run of bytes that are not zero.
	DataSegments uint32
	// Body is the bytes of one function body. Default 1 MiB.
	Body uint32
	// Locals is the locals of one function, parameters aside, and the groups they are declared in. Default 4,000.
	Locals uint32
	// TotalLocals is the locals of all functions. Default 1,000,000.
	TotalLocals uint32
	// Operands is the values one function has on its operand stack. Default 4,000.
	Operands uint32
	// Blocks is the basic blocks of one function, as they are estimated: 1 for block, 2 for br_if, 3 for if, 6 for loop
	// since metering adds a branch to it, 1 for each label of br_table. Default 24,000.
	Blocks uint32
	// Nesting is the blocks inside each other. Default 4,000.
	Nesting uint32
	// Labels is the labels of one br_table. Default 8,192.
	Labels uint32
	// TotalLabels is the labels of all br_tables. Default 500,000.
	TotalLabels uint32
	// LoopLocals is the loops of one function times the locals and parameters it uses. Default 100,000.
	LoopLocals uint32
	// Joins is, of one function, the locals that are set inside each of its blocks, summed over the blocks: where a
	// block ends or a loop begins, a compiler needs a value for each. Default 100,000.
	Joins uint32
	// Cost is the estimated time it takes to compile the module on one processor. Default 30 s.
	Cost time.Duration
}

// DefaultCost is the default of Limits.Cost.
const DefaultCost = 30 * time.Second

// A bound names one of the limits that are counts.
type bound uint8

const (
	boundModule bound = iota
	boundCustoms
	boundTypes
	boundParams
	boundResults
	boundImports
	boundFunctions
	boundTables
	boundTableEntries
	boundGlobals
	boundExports
	boundName
	boundElementSegments
	boundElements
	boundDataSegments
	boundBody
	boundLocals
	boundTotalLocals
	boundOperands
	boundBlocks
	boundNesting
	boundLabels
	boundTotalLabels
	boundLoopLocals
	boundJoins
	boundCount
)

// bounds has the name of each limit, what it counts, and its default.
var bounds = [boundCount]struct {
	name, what string
	value      uint32
}{
	boundModule:          {"module", "bytes", 32 << 20},
	boundCustoms:         {"customs", "custom sections", 1_000},
	boundTypes:           {"types", "types", 4_000},
	boundParams:          {"params", "parameters", 64},
	boundResults:         {"results", "results", 16},
	boundImports:         {"imports", "imports", 256},
	boundFunctions:       {"functions", "functions", 50_000},
	boundTables:          {"tables", "tables", 4},
	boundTableEntries:    {"table_entries", "table entries", 100_000},
	boundGlobals:         {"globals", "globals", 4_000},
	boundExports:         {"exports", "exports", 4_000},
	boundName:            {"name", "bytes in a name", 256},
	boundElementSegments: {"element_segments", "element segments", 4_000},
	boundElements:        {"elements", "elements", 100_000},
	boundDataSegments:    {"data_segments", "data segments", 200_000},
	boundBody:            {"body", "bytes of code", 1 << 20},
	boundLocals:          {"locals", "locals", 4_000},
	boundTotalLocals:     {"total_locals", "locals in all", 1_000_000},
	boundOperands:        {"operands", "operands", 4_000},
	boundBlocks:          {"blocks", "basic blocks", 24_000},
	boundNesting:         {"nesting", "nested blocks", 4_000},
	boundLabels:          {"labels", "labels in a br_table", 8_192},
	boundTotalLabels:     {"total_labels", "labels in all", 500_000},
	boundLoopLocals:      {"loop_locals", "loops times locals", 100_000},
	boundJoins:           {"joins", "locals set in blocks", 100_000},
}

// each gives the fields in the order of the bounds.
func (l *Limits) each() [boundCount]*uint32 {
	return [boundCount]*uint32{
		&l.Module, &l.Customs, &l.Types, &l.Params, &l.Results, &l.Imports, &l.Functions, &l.Tables, &l.TableEntries,
		&l.Globals, &l.Exports, &l.Name, &l.ElementSegments, &l.Elements, &l.DataSegments, &l.Body, &l.Locals,
		&l.TotalLocals, &l.Operands, &l.Blocks, &l.Nesting, &l.Labels, &l.TotalLabels, &l.LoopLocals, &l.Joins,
	}
}

// WithDefaults fills the zero fields.
func (l Limits) WithDefaults() Limits {
	for b, field := range l.each() {
		if *field == 0 {
			*field = bounds[b].value
		}
	}
	if l.Cost <= 0 {
		l.Cost = DefaultCost
	}
	return l
}

// Set changes the limit of that name, as a [LimitError] spells it, to a number above zero, or cost to a duration.
func (l *Limits) Set(name, value string) error {
	if name == limitCost {
		cost, err := time.ParseDuration(value)
		if err != nil || cost <= 0 {
			return fmt.Errorf("limit cost: %q is no time above zero; write it like 60s", value)
		}
		l.Cost = cost
		return nil
	}
	for b, field := range l.each() {
		if bounds[b].name != name {
			continue
		}
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil || n == 0 {
			return fmt.Errorf("limit %s: %q is no number from 1 to %d", name, value, uint32(math.MaxUint32))
		}
		*field = uint32(n)
		return nil
	}
	return fmt.Errorf("there is no limit %q; there are %s", name, strings.Join(limitNames(), ", "))
}

func limitNames() []string {
	names := []string{limitCost}
	for _, b := range bounds {
		names = append(names, b.name)
	}
	return names
}
