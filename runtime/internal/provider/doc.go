// Package provider keeps a provider module loaded, routes a URI to the template or resource it belongs to, and tells
// watchers what has changed.
//
// It owns the order of lists, cursors, template matching, completion and subscriptions. It meets the interface a
// resource server declares in runtime/internal/mcp without knowing that package. internal/app opens providers. It never
// speaks a protocol and never touches an engine.
package provider
