// Everything offers each kind of resource there is, and each kind of fault a provider can have. The tests of wasmres
// and the MCP conformance suite read it.
package main

import wasmres "github.com/wasmres/wasmres/guest-sdk/go"

func init() {
	wasmres.Provider("everything", "1.0.0").
		Title("Everything").
		Describe("Every kind of resource, for testing hosts and clients.").
		Prefixes("test://").
		ConfigSchema(`{"type":"object","additionalProperties":{"type":"string"}}`)

	registerContents()
	registerBlobs()
	registerEntries()
	registerLive()
	registerFaults()
}

func main() {}
