// Package guest is the host's side of one call of a guest: it checks and counts all data from the guest.
//
// The check that counts is the one in the parent process. The worker process uses the same code, which helps it to end a
// call early. The package knows neither engines nor processes: a [Runner] has the guests run, and need not be trusted.
package guest
