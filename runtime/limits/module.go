package limits

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Module bounds the size and the shape of one module. Zero fields take the default; there is no way to say unlimited. The
// defaults leave room above every program that was tried, among them esbuild, SQLite and large Go programs. A module that
// exceeds one is refused before it is compiled, as [abi.CodeModule].
type Module struct {
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

const (
	nameCost    = "cost"
	defaultCost = 30 * time.Second
)

// A Count is one of the limits of a [Module] that are numbers.
type Count struct {
	Name  string  // as [Module.Set] takes it, like "total_locals" for TotalLocals
	Unit  string  // what is counted, in the plural
	Value *uint32 // the field

	standard uint32 // its default
}

// Counts returns the limits that are numbers, in the order of the fields: all but Cost.
func (m *Module) Counts() []Count {
	return []Count{
		{"module", "bytes", &m.Module, 32 << 20},
		{"customs", "custom sections", &m.Customs, 1_000},
		{"types", "types", &m.Types, 4_000},
		{"params", "parameters", &m.Params, 64},
		{"results", "results", &m.Results, 16},
		{"imports", "imports", &m.Imports, 256},
		{"functions", "functions", &m.Functions, 50_000},
		{"tables", "tables", &m.Tables, 4},
		{"table_entries", "table entries", &m.TableEntries, 100_000},
		{"globals", "globals", &m.Globals, 4_000},
		{"exports", "exports", &m.Exports, 4_000},
		{"name", "bytes in a name", &m.Name, 256},
		{"element_segments", "element segments", &m.ElementSegments, 4_000},
		{"elements", "elements", &m.Elements, 100_000},
		{"data_segments", "data segments", &m.DataSegments, 200_000},
		{"body", "bytes of code", &m.Body, 1 << 20},
		{"locals", "locals", &m.Locals, 4_000},
		{"total_locals", "locals in all", &m.TotalLocals, 1_000_000},
		{"operands", "operands", &m.Operands, 4_000},
		{"blocks", "basic blocks", &m.Blocks, 24_000},
		{"nesting", "nested blocks", &m.Nesting, 4_000},
		{"labels", "labels in a br_table", &m.Labels, 8_192},
		{"total_labels", "labels in all", &m.TotalLabels, 500_000},
		{"loop_locals", "loops times locals", &m.LoopLocals, 100_000},
		{"joins", "locals set in blocks", &m.Joins, 100_000},
	}
}

// WithDefaults returns a copy in which the zero fields have their defaults.
func (m Module) WithDefaults() Module {
	for _, c := range m.Counts() {
		setDefault(c.Value, c.standard)
	}
	if m.Cost <= 0 {
		m.Cost = defaultCost
	}
	return m
}

// Set changes the limit of that name to value: "cost" to a duration above zero, such as "60s"; any other to a number from
// 1 to 4,294,967,295. An error that refuses a module gives the name, as in "limit total_locals".
func (m *Module) Set(name, value string) error {
	if name == nameCost {
		cost, err := time.ParseDuration(value)
		if err != nil || cost <= 0 {
			return fmt.Errorf("limit cost: %q is not a duration above zero; write it like 60s", value)
		}
		m.Cost = cost
		return nil
	}
	names := []string{nameCost}
	for _, c := range m.Counts() {
		if c.Name != name {
			names = append(names, c.Name)
			continue
		}
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil || n == 0 {
			return fmt.Errorf("limit %s: %q is not a number from 1 to %d", name, value, uint32(math.MaxUint32))
		}
		*c.Value = uint32(n)
		return nil
	}
	return fmt.Errorf("there is no limit %q; there are %s", name, strings.Join(names, ", "))
}
