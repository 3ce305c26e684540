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

// An Immediate service answers from memory, or is bounded by its own caller: its Call never waits for a file, a server or
// another call. The runtime calls it on the goroutine of the guest and sets no bound on it. All other services are called
// on a goroutine of their own, which the runtime stops waiting for soon after the call's deadline.
type Immediate interface {
	Service
	// Immediate does nothing: it marks the type.
	Immediate()
}

// A Repeatable is a [Service] that has requests which cannot change anything: the host may answer them again when it has
// to repeat the call of a guest, as after the end of its process. The host never repeats a call that has used a service
// which is not Repeatable.
type Repeatable interface {
	Service
	// MayRepeat reports whether answering request cannot change anything, here or elsewhere. It is called before Call,
	// and does not keep request.
	MayRepeat(request []byte) bool
}

// A Response is what a guest reads back: a message and, for some services, bytes beside it.
type Response struct {
	Message []byte
	Body    []byte
}

// Services are what a provider may call. What is absent is denied. They are a [Capability] with nothing to close.
type Services map[abi.Service]Service

// Services implements [Capability].
func (s Services) Services() Services { return s }

// Close implements [Capability]. It does nothing.
func (Services) Close() error { return nil }

// Config is the power to read configuration values by key.
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
