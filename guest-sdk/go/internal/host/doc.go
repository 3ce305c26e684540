// Package host is the host as a guest sees it: the six functions of wasmres_v1.
//
// In a wasm build they are the imports themselves; in a native build they go to whatever [Current] is, which
// wasmrestest sets for the length of one call. The SDK and wasmrestest may import it. It gives no meaning to what
// passes through.
package host
