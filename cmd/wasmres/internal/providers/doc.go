// Package providers has the code that commands share if they open providers: flags for grants, limits and the host,
// arguments that name providers, approvals, and errors that say which request failed.
package providers
