//go:build !linux

package compiler_test

func probe() {}
