package wasmres

import "github.com/wasmres/wasmres/guest-sdk/go/internal/host"

// Reset forgets everything registered.
func Reset() { registered = registry{ops: 1 << opDescribe} }

// use makes h the host until the function it gives is called.
func use(h host.Host) func() {
	host.Current = h
	return func() { host.Current = nil }
}
