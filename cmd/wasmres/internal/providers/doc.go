// Package providers has what commands that open providers share: the flags for grants, limits and the host, the arguments
// that name providers, approvals, and errors that say which request failed.
package providers
