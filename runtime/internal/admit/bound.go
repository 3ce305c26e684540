package admit

import "github.com/wasmres/wasmres/runtime/limits"

// A bound is the index of a limit in [limits.Module.Counts].
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

// counts has the name and the unit of each bound.
var counts = new(limits.Module).Counts()
