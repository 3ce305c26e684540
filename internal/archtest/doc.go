// Package archtest holds the tree to the law of ARCHITECTURE.md: a package imports only packages of strictly lower
// rank, and a heavy dependency has one door. Its tests read the source of every package; nothing imports it.
package archtest
