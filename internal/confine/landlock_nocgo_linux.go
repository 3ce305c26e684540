//go:build !cgo

package confine

// viaLibpsx: without cgo, Go makes a system call on all threads.
const viaLibpsx = false
