package child

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// proxies returns a proxy for each service.
func proxies(ids []abi.Service) capability.Services {
	services := capability.Services{}
	for _, id := range ids {
		services[id] = proxy(id)
	}
	return services
}

// A proxy asks the parent for a service, on the connection of the call. The parent bounds the time of the answer.
type proxy abi.Service

// Immediate implements [capability.Immediate].
func (p proxy) Immediate() {}

// Call implements [capability.Service].
func (p proxy) Call(ctx context.Context, request []byte) (capability.Response, error) {
	return connectionOf(ctx).ask(abi.Service(p), request)
}

// ungranted asks the parent for a service that is not granted, so that the operator's log shows it. The parent denies
// it.
func ungranted(ctx context.Context, id abi.Service, request []byte) {
	_, _ = connectionOf(ctx).ask(id, request) // a connection that failed keeps failing
}

// notify sends a notice of the guest to the parent.
func notify(ctx context.Context, uri string) { connectionOf(ctx).sendChanged(uri) }
