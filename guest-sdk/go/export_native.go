//go:build !wasip1

package wasmres

import "github.com/wasmres/wasmres/guest-sdk/go/internal/host"

func init() { host.Serve = serve }
