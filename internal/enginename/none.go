//go:build !(wasmtime && cgo && linux && amd64)

package enginename

const isBuilt = false
