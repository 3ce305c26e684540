package capability

import (
	"context"

	"github.com/wasmres/wasmres/abi"
)

// A Service answers one kind of service call. It is safe for concurrent use, checks its grant itself, bounds what it
// answers, and ends soon after ctx does.
type Service interface {
	// Call answers an encoded request. An error is classified by [abi.CodeOf]; the guest sees only the code.
	// request is valid until Call returns; the response belongs to the caller.
	Call(ctx context.Context, request []byte) (Response, error)
}

// A Response is what a guest reads back: a message and, for some services, bytes beside it.
type Response struct {
	Message []byte
	Body    []byte
}

// Services are the powers granted to a provider. What is absent is denied.
type Services map[abi.Service]Service

// Config is the power to read configuration values by key.
type Config map[string]string

// Call implements [Service] for [abi.ServiceConfig].
func (c Config) Call(_ context.Context, request []byte) (Response, error) {
	var req abi.ConfigRequest
	if err := req.Decode(request); err != nil {
		return Response{}, err
	}
	value, ok := c[req.Key]
	if !ok {
		return Response{}, abi.Errorf(abi.CodeNotFound, "no configuration value %.64q", req.Key)
	}
	return Response{Message: (&abi.ConfigResponse{Value: value}).Append(nil)}, nil
}
