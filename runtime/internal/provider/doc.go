// Package provider keeps a provider module loaded, and routes a URI to the template or resource it belongs to.
//
// It owns the order of lists, cursors, template matching, completion, and which results are cached; package subscribe
// reports changes for it. A Provider is a [github.com/wasmres/wasmres/runtime/resource.Source]. Package runtime opens
// providers. It never speaks a protocol and never touches an engine.
package provider
