// Package capability has the interfaces of host capabilities: a service takes bytes and answers bytes.
//
// It owns the interface of a service and the capability to read configuration. Each other capability is a package below
// this directory, and checks its grant itself. None of them knows an engine.
package capability
