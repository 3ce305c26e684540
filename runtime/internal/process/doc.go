// Package process starts the running program again, as a child with few resources that cannot outlive this process, and
// that can be killed with all processes it has started.
//
// It owns children from start to reaping: the thread that starts them, the descriptors, namespaces and processors they
// get, the signal that ends them, and the record of their end. A child begins with an empty environment, three
// descriptors and those of its Config, its own process group, and no way to gain privileges. Its main restricts it
// further, with runtime/internal/confine. A program that starts many children has a fork server start them. That is the
// same program again: its main calls [Main] first. Children then inherit limits, umask and priority as they were when
// the fork server was started.
//
// runtime/internal/compiler, runtime/internal/worker and runtime/capability/sqlcap/sqlite import it; internal/app asks
// for namespaces. This package does not talk to a child, limit its life, or start it again.
package process
