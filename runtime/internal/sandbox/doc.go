// Package sandbox loads untrusted WebAssembly modules as providers, and calls them within limits.
//
// It owns loading, and the order of a call: the limiter, the checks of package guest, and the runner. It knows nothing about
// MCP, routing or caching, and never writes to standard output.
//
// A runner decides where guests run: package pool runs them in this process, package worker in a process of their own. The
// checks are the same.
//
// Every call gets an instance in the state of the image: that of an instance that has initialised itself. No call sees what
// another has left in guest memory, unless the provider requests a longer lifecycle and is granted it.
package sandbox
