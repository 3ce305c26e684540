// Package check has the command check, which reports what clients of a provider would stumble over.
package check
