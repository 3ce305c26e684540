package host

import "unsafe"

//go:wasmimport wasmres_v1 take
//go:noescape
func take(channel uint32, dst unsafe.Pointer, off, size uint32) uint32

//go:wasmimport wasmres_v1 emit
//go:noescape
func emit(p unsafe.Pointer, size uint32) int32

//go:wasmimport wasmres_v1 body
//go:noescape
func body(p unsafe.Pointer, size uint32) int32

//go:wasmimport wasmres_v1 call
//go:noescape
func call(service uint32, p unsafe.Pointer, size uint32) uint64

//go:wasmimport wasmres_v1 log
//go:noescape
func log(level uint32, p unsafe.Pointer, size uint32)

//go:wasmimport wasmres_v1 info
//go:noescape
func info(id uint32) int64

// Take copies bytes of a channel from off on into dst and says how many.
func Take(channel uint32, dst []byte, off uint32) uint32 {
	return take(channel, unsafe.Pointer(unsafe.SliceData(dst)), off, uint32(len(dst)))
}

// Emit hands a frame over and gives the host's signal.
func Emit(frame []byte) int32 {
	return emit(unsafe.Pointer(unsafe.SliceData(frame)), uint32(len(frame)))
}

// Body hands over bytes of the last content and gives the host's signal.
func Body(p []byte) int32 {
	return body(unsafe.Pointer(unsafe.SliceData(p)), uint32(len(p)))
}

// Call asks for a service and gives its code and the size of its response.
func Call(service uint32, request []byte) (code, size uint32) {
	answer := call(service, unsafe.Pointer(unsafe.SliceData(request)), uint32(len(request)))
	return uint32(answer >> 32), uint32(answer)
}

// Log writes a line to the host's log.
func Log(level uint32, message string) {
	log(level, unsafe.Pointer(unsafe.StringData(message)), uint32(len(message)))
}

// Info gives one number the host knows.
func Info(id uint32) int64 { return info(id) }
