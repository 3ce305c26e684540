//go:build !cgo

package confine

// restrictThreads restricts all threads to the files of the grants: without cgo, Go can make a system call on all
// threads.
func restrictThreads(_ int, grants []grant) error { return restrictProcess(grants) }
