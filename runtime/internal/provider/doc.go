// Package provider loads an untrusted WebAssembly module as a provider, routes a URI to the template or resource it belongs
// to, and calls the guest within limits.
//
// It owns the order of lists, cursors, template matching, completion, which results are cached, and the order of a call:
// the limiter, the checks of package guest, and the runner. Package subscribe reports changes for it. A Provider is a
// [github.com/wasmres/wasmres/runtime/resource.Source]. Package runtime opens providers. It never speaks a protocol and
// never touches an engine.
//
// A runner decides where guests run: package pool runs them in this process, package worker in a process of their own. The
// checks are the same. Every call gets an instance in the state of the image. No call sees what another has left in guest
// memory, unless the provider requests a longer lifecycle and is granted it.
package provider
