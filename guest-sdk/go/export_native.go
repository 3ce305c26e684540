//go:build !wasip1

package wasmres

import "github.com/wasmres/wasmres/guest-sdk/go/internal/host"

func init() { host.Serve = serve }

// newRequest makes a request: tests may run several operations at once.
func newRequest() *Request { return &Request{} }

func requestBuffer(n uint32) []byte { return make([]byte, n) }
