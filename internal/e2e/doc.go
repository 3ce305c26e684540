// Package e2e drives the built wasmres with other people's MCP clients: the official conformance suite, the inspector
// and the TypeScript client. It also serves all examples, with real servers behind them, reads the URIs that papers on MCP
// name, and checks the practices that they advise.
//
// Its tests need what `make tools` installs and take minutes; they are skipped unless WASMRES_E2E is set, as `make e2e`
// does.
package e2e
