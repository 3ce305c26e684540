//go:build !unix || darwin

package secret

// checkBus always succeeds: the keyring of this system does not use D-Bus.
func checkBus() error { return nil }
