package abi

// Major is the ABI version this package describes. It is part of the import module's and the export's name, so
// a module for another major version simply has other imports and exports.
const Major = 1

// Minor is the newest minor version this host speaks. A manifest names the least minor version its guest needs.
const Minor = 0

// Names in a guest module. The host writes to guest memory only inside [ImportTake], reads it only inside an import,
// and keeps no pointer after the import returns.
const (
	// ImportModule is the module name of every host function of this ABI.
	ImportModule = "wasmres_v1"
	// ExportCall is the one function a guest must export: (op i32, request_len i32) -> (code i32).
	ExportCall = "wasmres_v1"
	// ExportInitialize is optional, [] -> [], and called once after instantiation.
	ExportInitialize = "_initialize"
	// ExportWarm is optional, [] -> [], and called once, after ExportInitialize and OpConfigure and before the first
	// request. Every request finds the memory that it leaves, as caches and tables.
	ExportWarm = "wasmres_v1_warm"
	// ExportSeed is optional, (seed i64) -> (), and called before each request with an unpredictable number. Without
	// it, random numbers that a guest drew while starting are the same in every request.
	ExportSeed = "wasmres_v1_seed"
	// ExportStopped is optional, [] -> [], and called after the host has ended an operation for its fuel, its time or its
	// host calls. Memory is as the end left it. A guest may log where it was; nothing else of the operation is left.
	ExportStopped = "wasmres_v1_stopped"
	// ExportStart marks a command module (a program with main), which cannot serve calls and is refused.
	ExportStart = "_start"
	// ExportMemory is the guest's one linear memory.
	ExportMemory = "memory"
	// ManifestSection is the custom section that holds one encoded [Manifest].
	ManifestSection = "wasmres.manifest"
)

// Host functions, all in [ImportModule]. A guest imports any subset.
const (
	ImportTake = "take" // (channel, dst, off, len i32) -> (copied i32)
	ImportEmit = "emit" // (ptr, len i32) -> (signal i32)
	ImportBody = "body" // (ptr, len i32) -> (signal i32)
	ImportCall = "call" // (service, ptr, len i32) -> (code<<32 | response_len i64)
	ImportLog  = "log"  // (level, ptr, len i32) -> ()
	ImportInfo = "info" // (id i32) -> (value i64)
)

// A ValueType is one WebAssembly number type, in its binary encoding.
type ValueType byte

// The value types that cross the boundary. Reference types never do.
const (
	I32 ValueType = 0x7f
	I64 ValueType = 0x7e
)

func (t ValueType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case 0x7d:
		return "f32"
	case 0x7c:
		return "f64"
	case 0x7b:
		return "v128"
	case 0x70:
		return "funcref"
	case 0x6f:
		return "externref"
	}
	return "unknown"
}

// A Signature is the exact type of a function at the boundary.
type Signature struct {
	Params, Results []ValueType
}

// String returns the signature in the notation of the WebAssembly specification, as in "[i32 i32] -> [i32]".
func (s Signature) String() string {
	return typeList(s.Params) + " -> " + typeList(s.Results)
}

func typeList(types []ValueType) string {
	b := []byte{'['}
	for i, t := range types {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, t.String()...)
	}
	return string(append(b, ']'))
}

// Equal reports whether both signatures have the same parameter and result types.
func (s Signature) Equal(o Signature) bool {
	return string(bytesOf(s.Params)) == string(bytesOf(o.Params)) && string(bytesOf(s.Results)) == string(bytesOf(o.Results))
}

func bytesOf(types []ValueType) []byte {
	b := make([]byte, len(types))
	for i, t := range types {
		b[i] = byte(t)
	}
	return b
}

// Exports returns the exact signature of every function export this ABI knows. Only [ExportCall] is required.
func Exports() map[string]Signature {
	return map[string]Signature{
		ExportCall:       {Params: []ValueType{I32, I32}, Results: []ValueType{I32}},
		ExportInitialize: {},
		ExportWarm:       {},
		ExportSeed:       {Params: []ValueType{I64}},
		ExportStopped:    {},
	}
}

// Imports returns the exact signature of every host function in [ImportModule].
func Imports() map[string]Signature {
	return map[string]Signature{
		ImportTake: {Params: []ValueType{I32, I32, I32, I32}, Results: []ValueType{I32}},
		ImportEmit: {Params: []ValueType{I32, I32}, Results: []ValueType{I32}},
		ImportBody: {Params: []ValueType{I32, I32}, Results: []ValueType{I32}},
		ImportCall: {Params: []ValueType{I32, I32, I32}, Results: []ValueType{I64}},
		ImportLog:  {Params: []ValueType{I32, I32, I32}},
		ImportInfo: {Params: []ValueType{I32}, Results: []ValueType{I64}},
	}
}

// Channels of [ImportTake]. They are empty while an export other than [ExportCall] runs.
const (
	ChannelRequest  = 0 // the encoded Request of the running operation
	ChannelResponse = 1 // the response to the last service call
	ChannelBody     = 2 // the bytes that came with that response
)

// A Signal is the result of [ImportEmit] and [ImportBody]. After a negative one the guest should return: the host
// ignores all further output.
type Signal int32

// The signals.
const (
	SignalMore      Signal = 0  // go on
	SignalEnough    Signal = 1  // the page or range is full: set the next cursor, return CodeOK
	SignalCancelled Signal = -1 // the client no longer waits for the result
	SignalDeadline  Signal = -2 // the time limit has passed
	SignalTooLarge  Signal = -3 // the result limit is reached
	SignalBadFrame  Signal = -4 // the frame broke this ABI; the call has failed
)

// Values of [ImportInfo].
const (
	InfoWallTime  = 0 // nanoseconds since 1970-01-01 UTC
	InfoMonotonic = 1 // nanoseconds of a monotonic clock, from an arbitrary start
	InfoDeadline  = 2 // nanoseconds left; never negative
	InfoMinor     = 3 // the host's Minor
	InfoMaxBody   = 4 // most bytes of all contents of this call
	InfoServices  = 5 // bit n is set when service n is granted
)

// Levels of [ImportLog].
const (
	LogDebug = 0
	LogInfo  = 1
	LogWarn  = 2
	LogError = 3
)

// Limits of the encoding itself, the same on every host.
const (
	MaxRequest = 64 << 10 // bytes of an encoded Request
	MaxFrame   = 1 << 20  // bytes of one emit
	MaxService = 1 << 20  // bytes of one service request
	MaxMeta    = 16 << 10 // bytes of a JSON text inside a message
)
