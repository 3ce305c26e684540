package host

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// nothing is the source of a tenant without providers.
type nothing struct{}

// List implements [resource.Source].
func (nothing) List(context.Context, *resource.Request) (*abi.Reply, error) { return &abi.Reply{}, nil }

// Templates implements [resource.Source].
func (nothing) Templates(context.Context, *resource.Request) (*abi.Reply, error) {
	return &abi.Reply{}, nil
}

// Read implements [resource.Source].
func (nothing) Read(_ context.Context, req *resource.Request, _ abi.Sink) (*abi.Reply, error) {
	return nil, abi.Errorf(abi.CodeNotFound, "no resource %.256q", req.URI.String())
}

// Complete implements [resource.Source].
func (nothing) Complete(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	return nil, abi.Errorf(abi.CodeInvalidParams, "no resource template %.128q", req.Template)
}

// Subscribe implements [resource.Source]. It accepts every URI: a later provider may have it.
func (nothing) Subscribe(_ context.Context, uris []abi.URI, _ bool, _ resource.Notifier) ([]abi.URI, error) {
	return uris, nil
}

// ListVersion implements [resource.Versioned].
func (nothing) ListVersion() uint64 { return 0 }
