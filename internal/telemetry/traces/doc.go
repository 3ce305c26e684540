// Package traces sends traces of requests to a collector of OpenTelemetry, by OTLP over HTTP. No other package imports
// go.opentelemetry.io.
//
// # Bounds
//
// Spans wait in a queue of 2,048 for a goroutine that sends them in batches. A collector that is slow, wrong or away delays no
// request: spans for which the queue has no room are dropped and counted. A span has at most 16 attributes of 256 bytes. Which
// requests are traced is decided when they begin: a share of those whose client has no trace of its own, and those whose client
// traces them, as long as there are at most 100 of these in a second; further ones are like those without a trace.
//
// Spans have methods of MCP, revisions, codes, names and versions of providers, tenants, and templates of URIs, but no URI, no
// principal, and no text of a client or a provider but the names in its manifest. The trace ID and the trace state are those of
// the client.
package traces
