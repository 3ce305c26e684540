//go:build cgo

package compiler_test

const builtWithCgo = true
