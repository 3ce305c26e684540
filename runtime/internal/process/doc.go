// Package process starts the running program again, as a child that owns nothing, cannot outlive this process, and can
// be killed with all it has started.
//
// It owns children from their start to their burial: the thread that starts them, what they inherit, the namespaces
// they get of their own, the processors they use, the signal that ends them, and what is kept of how they ended. A child
// begins with an empty environment, three descriptors and those it is given, a group of its own, and no way to gain
// privileges. What it may do with the machine from there on is the business of its own main, which runtime/internal/confine
// helps. A program that starts many children has them started by a fork server, which is the program once more: its main
// calls [Main] first. What children inherit of a process, as limits, umask and priority, they then have from the time
// when the fork server was started.
//
// Packages that have a child do their work import it: runtime/internal/compiler, runtime/internal/worker and
// runtime/capability/sqlcap/sqlite; internal/app asks which namespaces there are. Never done here:
// talking to a child, deciding how long it may live, starting it again.
package process
