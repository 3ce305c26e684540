// Package confine takes from the running process what it does not need.
//
// It owns the two stages in which a process that is about to meet foreign code gives up its rights, the lists of system
// calls that are left in each, and the report of what this machine could take. [Enter] is for a process that still
// compiles and touches a few files, or queries a database; [Seal] leaves memory that cannot become code, threads, clocks
// and the descriptors that are open. Both hold every thread, built with cgo or without, and neither can be undone.
//
// Such a process calls it about itself; a report on the machine calls [Probe].
//
// Never done here: starting a process, or what only its parent can give it: namespaces, an end together with the
// parent's, an empty environment; deciding which layers a machine must have. A layer that the machine lacks is said in
// [Layers], one that it has and that fails is an error.
package confine
