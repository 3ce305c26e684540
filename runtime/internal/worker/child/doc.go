// Package child is the worker process: the running program, started again by its parent to run the guests of one
// module.
//
// [Main] locks the process down, starts the guests in a pool, and serves calls until the parent closes the control
// connection. The worker has no limiter, no routing and no cache, and checks no grant: it asks the parent for each
// service. The parent checks everything that it sends.
package child
