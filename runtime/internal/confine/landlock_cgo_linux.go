//go:build cgo

package confine

// restrictThreads restricts all threads to a ruleset. With cgo, Go cannot make a system call on all threads. The
// library's way is libpsx, which looks for them in /proc under the process's own id: within a pid namespace that id names
// another process there, and libpsx would wait for ever.
func restrictThreads(ruleset int) error { return onEveryThread(ruleset) }

// prepareThreads opens what restrictThreads needs.
func prepareThreads() { _, _ = threadCount() }
