// Package runtime turns untrusted WebAssembly modules into providers that can be called within limits.
//
// It owns loading, the checks of what a module imports and exports, the instances, the host side of ABI wasmres_v1,
// and the limits of a call. Whoever serves providers imports it. It knows nothing of MCP, routing or caching, and it
// never writes to standard output.
//
// Every call runs in an instance of its own that has done nothing but initialise itself, so nothing one call leaves in
// guest memory is seen by another. Instances are made ahead of need.
package runtime
