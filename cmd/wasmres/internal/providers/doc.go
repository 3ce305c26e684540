// Package providers is what the commands share that open providers: the flags for grants, limits and the host, the arguments that
// name providers, approvals, and messages for failures of the providers.
package providers
