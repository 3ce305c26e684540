//go:build !linux

package process_test

func systemRole(string) func() { return nil }

func systemMain() bool { return false }
