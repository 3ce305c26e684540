// Package worker runs guests in a process of their own, which can open nothing, connect nowhere, and is gone when its
// time is up.
//
// It owns that process on both sides. In the parent, [Runner] is a [runtime.Runner]: it has a module compiled
// elsewhere, starts a worker, hands it the prepared module and the calls, believes nothing it says, kills it when a
// call is overdue and has another take its place, of which one stands by, blank. In the worker, which is the running program once more, [Main] locks the process
// down, has the instances of the module in a pool, and serves calls until the parent is gone. It has neither a limiter
// nor a cache: the parent decides which calls run.
//
// main, and TestMain of tests that run workers, must call [Main] first. Only internal/app and tests use the rest.
// Grants are never checked in a worker: what a guest asks for is asked of the parent.
package worker
