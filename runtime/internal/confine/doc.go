// Package confine takes from the running process the rights that it does not need.
//
// It owns two stages, the lists of system calls that each allows, and the report of the layers. [Enter] is for a
// process that still compiles and uses a few files, or queries a database. [Seal] leaves memory that cannot become
// code, threads, clocks and open descriptors. Both hold for every thread, built with cgo or without, and cannot be
// undone.
//
// A process that is about to read foreign data calls it for itself; a report on the machine calls [Probe].
//
// This package does not do what only a parent can do for a child: namespaces, ending with the parent, an empty
// environment. It does not decide which layers are required. [Layers] reports a layer that the machine lacks; a layer
// that exists and fails is an error.
package confine
