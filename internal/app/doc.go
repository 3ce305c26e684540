// Package app joins the rooms: engine, capabilities, provider, protocol and fronts. It builds what a command needs, starts it
// in order and stops it in reverse.
//
// Only packages of cmd/wasmres import it.
package app
