package wasmres

//go:wasmexport wasmres_v1
func wasmresV1(op, size uint32) uint32 { return serve(op, size) }
