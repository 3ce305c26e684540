// Command compatibility runs other people's MCP clients against the built wasmres and writes what works to
// docs/compatibility.md. `make compatibility` installs the clients and calls it; it is not part of `make check`.
//
// Each client runs in a process of its own, with a time limit, and prints a line of JSON for each check: see checks.mjs
// and goclients/checks.
package main
