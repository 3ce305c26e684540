//go:build cgo

package confine

// viaLibpsx: with cgo, Go cannot make a system call on all threads, and the library has libpsx do it.
const viaLibpsx = true
