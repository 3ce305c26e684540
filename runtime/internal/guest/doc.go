// Package guest is the host's side of one call of a guest: it checks and counts all data from the guest.
//
// The check in the parent process decides. The worker process runs the same checks, so that it can end a call early.
// The package knows neither engines nor processes: a [Runner] runs the guests, and need not be trusted.
package guest
