// Package worker runs guests in processes of their own, which can open no file and no connection. It is the parent's
// side; package child is the worker's.
//
// [Runner] has a module compiled, starts a worker process for it, sends it the metered module and the calls, and checks
// all answers. It kills a worker when a call is overdue, and replaces it by a standby worker. Only internal/app and
// tests use the package.
package worker
