// Serving measures wasmres beside other MCP servers that serve the same resources, natively and without a sandbox:
//
//	go run ./serving              # everything, some minutes; in internal/peers
//	go run ./serving -quick       # one short round
//	go run ./serving -w small-http,small-stdio -t wasmres,go-sdk -r 5 -d 2s
//
// It builds what it starts, and prints one table in Markdown. Servers take turns, so that what disturbs the machine
// disturbs all of them; figures are medians of the rounds. The processor time of a request is the server's, as the
// kernel counts it, the processes it has started included: it is the figure that depends least on what else the machine
// does. Contents are compared with the fixtures before anything is measured. On a machine that others use too,
// nice -n -19 helps; a real-time class does not, since the kernel makes it pause, which is what p99 then shows.
//
// It owns the list of servers and of workloads, how they are started and watched, and the table. Package load is the
// client, package fixture what is served; gosdk, mcpgo, fixed and js are the servers. They are here, in a module of
// its own, so that nobody who uses wasmres depends on them.
package main
