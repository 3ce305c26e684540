// Package check has the command check, which reports violations of the rules for providers.
package check
