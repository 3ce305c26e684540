// Package peers measures wasmres beside others that serve requests from untrusted WebAssembly: Extism, wazero as it
// comes, and no sandbox at all. It is a module of its own, so that nobody who uses wasmres depends on them.
//
// It owns guests in Go and in C, of which every host runs the same logic, a test that all of them answer the same
// bytes and that those called clean are, and benchmarks:
//
//	go test -run '^$' -bench Peers .                  # each by itself
//	go test -run '^$' -bench Split .                  # how long answering takes, and putting back
//	go test -run '^$' -bench Ratios -rounds 25 .      # interleaved, with the ratio to a clean call of wasmres
//
// What a clean instance costs the others depends on what a guest does when it starts, which wasmres does once. So each
// guest is there twice: with nothing to start but its language's runtime, and, as 1MiB, with a document of that size to
// make. Quoting a ratio without saying which is not honest, nor is one of a clean call to a warm one.
//
// Absolute numbers are those of the machine and of the hour. Ratios are what to look at: every round measures every
// host for a moment, and of each the best round counts. On a machine that others use too, this helps:
//
//	go test -c -o /tmp/peers.test . && chrt -f 20 taskset -c 1 /tmp/peers.test -test.run '^$' -test.bench Ratios -rounds 25
//
// Nothing imports it.
package peers
