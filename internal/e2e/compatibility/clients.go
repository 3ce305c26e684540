package main

import "context"

// A client is one library, or one bridge with the official client behind it.
type client struct {
	name       string
	transports []string
	command    []string // what runs it; the target follows
	// bridge makes the target of command out of the server's URL, and starts what is needed for it. Nil where the client
	// reaches the server by itself.
	bridge func(ctx context.Context, url string) (target []string, stop func(), err error)
	// faults explain failed checks, by the name of the check: each is the client's own.
	faults map[string]string
	note   string // what to know of the row; empty for nothing
}

var (
	both  = []string{"stdio", "http"}
	stdio = []string{"stdio"}
	http  = []string{"http"}
)

// script is a client in JavaScript.
func script(name string) []string { return []string{node, "checks.mjs", name} }

const firstPage = "the client reads the first page only: it ignores `nextCursor`"

var clients = []client{
	{name: "TypeScript SDK 1.0.4", transports: stdio, command: script("sdk@1.0.4"), note: "It has no Streamable HTTP."},
	{name: "TypeScript SDK 1.8.0", transports: stdio, command: script("sdk@1.8.0"), note: "It has no Streamable HTTP."},
	{name: "TypeScript SDK 1.12.3", transports: both, command: script("sdk@1.12.3")},
	{name: "TypeScript SDK 1.32.2", transports: both, command: script("sdk@1.32.2")},
	{name: "TypeScript SDK 2.4.0, legacy", transports: both, command: script("client@legacy")},
	{name: "TypeScript SDK 2.4.0, auto", transports: both, command: script("client@auto")},
	{name: "Go SDK 1.0.0", transports: both, command: []string{"goclients/bin/sdk-1.0.0"}, faults: map[string]string{
		"close": "on stdio the client waits for the answer to the request that it has cancelled, which a server does not send",
	}},
	{name: "Go SDK 1.8.0", transports: both, command: []string{"goclients/bin/sdk"}, faults: map[string]string{
		"read other scripts": "the client sends the header `Mcp-Name` as raw UTF-8, where the specification wants base64",
	}},
	{name: "mcp-go 1.2.1", transports: both, command: []string{"goclients/bin/mcpgo"}},
	{name: "mcp-use 1.34.6", transports: both, command: script("mcp-use")},
	{name: "@langchain/mcp-adapters 1.1.4", transports: both, command: script("langchain"), faults: map[string]string{"list": firstPage},
		note: "With its `outputHandling: { resource: \"content\" }`; by default it keeps embedded resources from the model."},
	{name: "@ai-sdk/mcp 1.0.101", transports: both, command: script("ai-sdk")},
	{name: "@openai/agents 0.20.0", transports: both, command: script("openai-agents")},
	{name: "mcp-client 1.13.1", transports: both, command: script("mcp-client")},
	{name: "@mastra/mcp 0.14.5", transports: both, command: script("mastra"), faults: map[string]string{"list": firstPage}},
	{name: "mcp-remote 0.15.1", transports: stdio, command: script("sdk@1.32.2"), bridge: remote, note: bridged},
	{name: "supergateway 4.0.0", transports: http, command: script("sdk@1.32.2"), note: bridged,
		bridge: overHTTP(func(port string) []string {
			return []string{node, "node_modules/supergateway/dist/index.js", "--stdio", program + " run --tools " + provider,
				"--outputTransport", "streamableHttp", "--stateful", "--port", port, "--logLevel", "none"}
		}, "/mcp")},
	{name: "mcp-proxy 6.7.19", transports: http, command: script("sdk@1.32.2"), note: bridged,
		bridge: overHTTP(func(port string) []string {
			return []string{node, "node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs", "--host", "127.0.0.1", "--port", port, "--server", "stream", "--",
				program, "run", "--tools", provider}
		}, "/mcp")},
	{name: "MCP inspector 2.12.0, in Chromium", transports: both, command: []string{node, "inspector.mjs"}, note: "The web page, operated by Playwright."},
}

const bridged = "A bridge; TypeScript SDK 1.32.2 stands behind it."

// remote is a bridge from a stdio client to the server's URL.
func remote(_ context.Context, url string) (target []string, stop func(), err error) {
	return []string{"stdio", node, "node_modules/mcp-remote/dist/proxy.js", url, "--allow-http", "--transport", "http-only"}, func() {}, nil
}
