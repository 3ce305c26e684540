package capability

import (
	"context"

	"github.com/wasmres/wasmres/abi"
)

// A Service answers one kind of service call. It is safe for concurrent use, checks its grant itself, bounds its
// answers, and returns soon after ctx has ended.
type Service interface {
	// Call answers an encoded request. It must not keep request; the caller owns the response. The guest gets only the
	// code of an error: see [abi.CodeOf].
	Call(ctx context.Context, request []byte) (Response, error)
}

// An Immediate is a [Service] whose Call never waits for a file, a server or another call. The runtime calls it on the
// goroutine of the guest, without a time limit, as that of a [Prompt]. It calls other services on a goroutine of their own,
// which it abandons soon after the deadline of the guest's call.
type Immediate interface {
	Service
	// Immediate does nothing: it marks the type.
	Immediate()
}

// A Prompt is a [Service] that may promise that each Call returns soon after ctx has ended, whatever it waits for. The runtime
// calls it on the goroutine of the guest, which is quicker.
type Prompt interface {
	Service
	// IsPrompt reports whether the service makes the promise. The answer never changes.
	IsPrompt() bool
}

// A Repeatable is a [Service] with requests that change nothing. The host repeats the call of a guest, as when its
// process has ended, only if it may repeat all service requests of that call.
type Repeatable interface {
	Service
	// MayRepeat reports whether answering request changes nothing, here or elsewhere. The host calls it before Call. It
	// must not keep request.
	MayRepeat(request []byte) bool
}

// A Response is the answer of a service: a message and, for some services, bytes.
type Response struct {
	Message []byte
	Body    []byte
}

// Services are the services of a provider, by kind. The host denies calls of absent ones. Services are a [Capability]
// with nothing to close.
type Services map[abi.Service]Service

// Services implements [Capability].
func (s Services) Services() Services { return s }

// Close implements [Capability]. It does nothing.
func (Services) Close() error { return nil }

// Config is the capability to read configuration values by key.
type Config map[string]string

// Immediate implements [Immediate].
func (c Config) Immediate() {}

// MayRepeat implements [Repeatable].
func (Config) MayRepeat([]byte) bool { return true }

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
