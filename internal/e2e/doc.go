// Package e2e drives the built wasmres with other people's MCP clients: the official conformance suite, the inspector
// and the TypeScript client.
//
// Its tests need what `make tools` installs. Without it they are skipped, unless WASMRES_E2E=require.
package e2e
