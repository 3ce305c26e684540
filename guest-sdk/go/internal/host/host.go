package host

// A Host stands in for wasmres in native builds. What it is handed is valid until the method returns.
type Host interface {
	Take(channel uint32, dst []byte, off uint32) uint32
	Emit(frame []byte) int32
	Body(p []byte) int32
	Call(service uint32, request []byte) (code, size uint32)
	Log(level uint32, message string)
	Info(id uint32) int64
}

var (
	// Current is the host of the running call; nil outside of calls.
	Current Host
	// Serve runs one operation of the registered provider; the SDK sets it.
	Serve func(op, size uint32) (code uint32)
)
