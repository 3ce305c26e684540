// Package mcptest is a resource server in memory, for the tests of the protocol and its fronts.
//
// It is small but whole: pages, templates with completion, reads in pieces, and watches that merge changes as the real
// ones do. Only tests import it.
package mcptest
