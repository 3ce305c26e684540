// Package worker runs guests in processes of their own, which can open nothing and connect nowhere. It is the parent's
// side: package child has the other one.
//
// [Runner] has a module compiled elsewhere, starts a worker process for it, sends it the metered module and the calls,
// checks all that it answers, kills it when a call is overdue, and has another one take its place, of which one stands
// by. Only internal/app and tests use the package.
package worker
