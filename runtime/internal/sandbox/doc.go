// Package runtime turns untrusted WebAssembly modules into providers that can be called within limits.
//
// It owns loading, the checks of what a module imports and exports, the instances, the host side of ABI wasmres_v1,
// and the limits of a call. Packages that serve providers import it. It knows nothing of MCP, routing or caching, and it
// never writes to standard output.
//
// Where guests run is for a [Runner] to say: [InProcess] has them here, runtime/internal/worker in a process of their own. What
// they say is checked here either way.
//
// Every call finds an instance as all of them start: the image of one that has initialised itself. Nothing one call
// leaves in guest memory is seen by another, unless the provider asks for a longer lifecycle and is granted it.
package sandbox
